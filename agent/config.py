"""The configuration of a run: frozen, validated, and the same thing in Python, TOML and JSON.

Knows every field, its range and its meaning. Does not know presets (`agent.presets`), files or the command line.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, Field, ValidationError, model_validator

from agent.env_config import UNPLAYABLE, CrafterConfig, EnvConfig
from agent.section import Float, Int, NonNegative, Positive, Section
from store.errors import AmagoError

Seed = Annotated[Int, Field(ge=0, le=2**63 - 1)]  # what NumPy, torch and the files hold
Fraction = Annotated[Float, Field(ge=0.0, le=1.0)]
Discount = Annotated[Float, Field(gt=0.0, lt=1.0)]
Weight = Annotated[Float, Field(ge=0.0)]

RelabelMode = Literal["none", "some", "all", "all_or_nothing"]
DrawMode = Literal["trajectory", "step"]


class TaskConfig(Section):
    """Which instructions the training rollouts carry."""

    goals: str = Field(default="", description="the instruction wanted, for example 'stone pickaxe,collect iron'")
    wanted_share: Fraction = Field(
        default=0.5, description="share of training rollouts that carry the wanted instruction"
    )
    tech_tree_share: Fraction = Field(
        default=0.25, description="share of the other rollouts sampled along the tech tree"
    )
    curriculum_share: Fraction = Field(
        default=0.5,
        description="share of the free draws that the record of successes chooses: neither too easy nor too hard",
    )
    max_length: Annotated[Int, Field(ge=1, le=5)] = Field(default=5, description="longest instruction, in subgoals")


class ModelConfig(Section):
    """Sizes of the networks."""

    memory: Literal["transformer", "gru", "none"] = Field(
        default="transformer", description="sequence model: what carries the past ('none': every step by itself)"
    )
    context: Annotated[Int, Field(ge=2)] | None = Field(
        default=64, description="steps the agent remembers and trains on (none: a whole rollout)"
    )
    d_model: Positive = Field(default=96, description="width of the sequence model")
    num_layers: Positive = Field(default=2, description="layers of the sequence model")
    num_heads: Positive = Field(default=4, description="attention heads")
    d_ff: Positive = Field(default=256, description="width of the Transformer's feed-forward layers")
    d_token: Positive = Field(default=8, description="width of the embeddings of grid cells and goal words")
    d_encoder: Positive = Field(default=192, description="width of the time step encoder")
    image_network: Literal["impala", "nature"] = Field(
        default="impala", description="network that sees images: IMPALA's, or Nature's, which costs a seventh"
    )
    image_channels: tuple[Annotated[Int, Field(gt=0, multiple_of=4)], ...] = Field(
        default=(16, 32, 32), min_length=1, description="channels of each stage of the network that sees images"
    )
    random_shift: NonNegative = Field(
        default=0, description="pixels by which training moves images at random, up to this many (0: not at all)"
    )
    num_critics: Annotated[Int, Field(ge=2)] = Field(default=4, description="critics in the ensemble")
    d_head: Positive = Field(default=128, description="width of the hidden layers of actor and critics")
    foresight: bool = Field(
        default=False,
        description="whether actor and critics are told what each action would lose on the way to the goal (where "
        "there are no goals: to the next reward), which is learned from all steps for all goals; for discrete actions",
    )
    continuous: Literal["gaussian", "mixture", "beta"] = Field(
        default="gaussian", description="distribution of continuous actions: tanh-Gaussian, a mixture of five, or Beta"
    )

    @model_validator(mode="after")
    def _stages_fit_network(self) -> ModelConfig:
        if self.image_network == "nature" and len(self.image_channels) != 3:
            raise ValueError(f"image_network 'nature' has 3 stages, image_channels gives {len(self.image_channels)}")
        return self

    @model_validator(mode="after")
    def _heads_divide_width(self) -> ModelConfig:
        if self.d_model % self.num_heads or (self.d_model // self.num_heads) % 2:
            raise ValueError(f"d_model ({self.d_model}) must be an even multiple of num_heads ({self.num_heads})")
        return self


class LossConfig(Section):
    """The learning updates: which actor and critic terms, with which weights (AMAGO-2, Eqs. 1-4)."""

    actor: Literal["dep", "ind"] = Field(
        default="dep", description="policy update: dependent on the scale of Q, or not"
    )
    critic: Literal["dep", "ind"] = Field(
        default="dep", description="value update: PopArt regression, or classification"
    )
    discounts: tuple[Discount, ...] = Field(
        default=(0.9, 0.95, 0.98, 0.99), min_length=1, description="all learned; the last one acts"
    )
    reward_scale: Annotated[Float, Field(gt=0)] = Field(default=10.0, description="rewards are multiplied by this")
    critic_weight: Weight = Field(default=10.0, description="weight of the critic loss")
    policy_gradient_weight: Weight = Field(default=1.0, description="weight of the dependent actor's -Q term")
    cloning_weight: Weight = Field(default=1.0, description="weight of filtered behaviour cloning beside the -Q term")
    advantage_filter: Literal["binary", "linear", "exp"] = Field(
        default="binary",
        description="what advantages make of cloning: keep or drop a step, or weigh it by A or by exp(A / T)",
    )
    advantage_temperature: Annotated[Float, Field(gt=0)] = Field(
        default=1.0, description="T of the filter 'exp', in the unit of the scaled returns"
    )
    foresight_weight: Weight = Field(
        default=5.0, description="weight of the error of model.foresight, which is small: most steps reach no goal"
    )
    entropy_weight: Weight = Field(default=0.0, description="weight of the policy's entropy, which is to stay large")
    action_samples: Annotated[Int, Field(ge=2)] = Field(
        default=4, description="actions drawn for each expectation over the policy, where it cannot be summed exactly"
    )
    target_subset: Positive = Field(default=2, description="critics drawn for each TD target")
    num_steps: Positive = Field(default=5, description="steps of the returns that make TD targets (n-step)")
    target_tau: Annotated[Float, Field(gt=0, le=1)] = Field(default=0.01, description="step of the target networks")
    num_bins: Annotated[Int, Field(ge=2)] = Field(default=64, description="value bins of the independent critic")
    value_labels: Literal["two_hot", "hl_gauss"] = Field(
        default="two_hot", description="labels of the independent critic: two bins, or a Gaussian over several"
    )
    value_min: Float = Field(default=-1.0, description="lowest scaled return of the value bins")
    value_max: Float = Field(default=60.0, description="highest scaled return of the value bins")
    value_symlog: bool = Field(default=True, description="space the value bins evenly in symlog, not in the return")
    popart_beta: Annotated[Float, Field(gt=0, lt=1)] = Field(default=5e-4, description="step of PopArt's statistics")
    time_limit: Literal["bootstrap", "terminal"] = Field(
        default="bootstrap", description="what a time limit means for the value of the last step"
    )

    @model_validator(mode="after")
    def _bins_span_zero(self) -> LossConfig:
        if not self.value_min < self.value_max:
            raise ValueError(f"value_min ({self.value_min}) must be below value_max ({self.value_max})")
        return self


class OptimizerConfig(Section):
    """AdamW and its schedule."""

    learning_rate: Annotated[Float, Field(gt=0)] = Field(default=5e-4, description="after warm-up")
    beta2: Annotated[Float, Field(gt=0, lt=1)] = Field(
        default=0.95, description="memory of AdamW's step sizes; less lets rare signals through sooner"
    )
    weight_decay: Weight = Field(default=1e-3, description="on matrices only")
    warmup_updates: NonNegative = Field(default=200, description="updates of linear warm-up")
    clip_norm: Annotated[Float, Field(gt=0)] = Field(default=1.0, description="bound of the gradient's global norm")
    batch_size: Positive = Field(default=24, description="sequences per update")
    micro_batches: Positive = Field(
        default=1, description="parts in which a batch passes through the networks, to save memory"
    )
    bf16: bool = Field(default=False, description="bfloat16 autocast in the networks")


class ReplayConfig(Section):
    """What is kept, how it is relabelled, and how often it is replayed."""

    max_steps: Positive = Field(default=2_000_000, description="the newest steps that are replayed, wherever they are")
    max_bytes: Positive = Field(
        default=4_000_000_000, description="memory for replay; beyond it observations of older rollouts stay on disk"
    )
    by: DrawMode = Field(
        default="trajectory",
        description="what is drawn evenly: rollouts, or steps (long rollouts more often)",
    )
    warmup_steps: Positive = Field(default=5_000, description="steps collected before the first update")
    steps_per_update: Annotated[Float, Field(gt=0)] = Field(default=96.0, description="environment steps per update")
    goal_share: Fraction = Field(
        default=0.0,
        description="share of the rollouts that are drawn by a goal they reached, all goals being as likely",
    )
    relabel: RelabelMode = Field(default="some", description="hindsight instruction relabelling")
    reward_share: Fraction = Field(
        default=0.0, description="share of the windows that are cut around a step that pays, where there is one"
    )
    offline: bool = Field(
        default=False, description="learn from the rollouts stored in the run alone: nothing is played"
    )


class ExplorationConfig(Section):
    """Epsilon-greedy noise, annealed over training and inside each rollout."""

    start: tuple[Fraction, Fraction] = Field(
        default=(1.0, 0.05), description="epsilon at a rollout's start: first, last"
    )
    end: tuple[Fraction, Fraction] = Field(default=(0.8, 0.01), description="epsilon at a rollout's end: first, last")
    power: Annotated[Float, Field(gt=0)] = Field(
        default=1.0, description="bend of the way from start to end inside a rollout: 1 straight, more: late"
    )
    anneal_steps: Positive = Field(default=300_000, description="environment steps from first to last")


class CollectConfig(Section):
    """How experience is gathered."""

    actors: Positive = Field(default=16, description="environments played at once")
    workers: NonNegative = Field(default=1, description="processes the environments live in (0: the collector's own)")
    worker_timeout: Annotated[Float, Field(gt=0)] = Field(
        default=60.0, description="seconds before a worker counts as hung"
    )
    publish_every: Positive = Field(
        default=20, description="updates between two hand-overs of weights to the collector"
    )


class RunSettings(Section):
    """Budget, seed, device and cadences."""

    steps: Positive | None = Field(default=None, description="stop after this many environment steps in all")
    updates: Positive | None = Field(default=None, description="stop after this many optimiser steps in all")
    minutes: Annotated[Float, Field(gt=0)] | None = Field(
        default=None, description="stop after this much training time in all"
    )
    seed: Seed = Field(default=0, description="seed of everything random")
    device: Literal["auto", "cpu", "cuda"] = Field(default="auto", description="where the networks train")
    threads: NonNegative = Field(default=0, description="CPU threads of the learner (0: one for each core but one)")
    deterministic: bool = Field(
        default=False, description="take turns instead of overlapping, so that runs repeat exactly"
    )
    log_every: Annotated[Float, Field(gt=0, le=60)] = Field(
        default=5.0, description="seconds between two progress reports"
    )
    checkpoint_every: Annotated[Float, Field(gt=0)] = Field(default=2.0, description="minutes between two checkpoints")
    keep_checkpoints: Positive = Field(default=3, description="newest checkpoints kept beside the best")
    evaluate_every: Annotated[Float, Field(gt=0)] | None = Field(
        default=None, description="minutes of training between two short evaluations in held-out worlds"
    )
    evaluate_episodes: Positive = Field(
        default=20, description="episodes of each short evaluation; games share them, one each at least"
    )


class Config(Section):
    """Everything a run needs to be repeated."""

    env: EnvConfig = CrafterConfig()
    task: TaskConfig = TaskConfig()
    model: ModelConfig = ModelConfig()
    loss: LossConfig = LossConfig()
    optimizer: OptimizerConfig = OptimizerConfig()
    replay: ReplayConfig = ReplayConfig()
    exploration: ExplorationConfig = ExplorationConfig()
    collect: CollectConfig = CollectConfig()
    run: RunSettings = RunSettings()

    @model_validator(mode="after")
    def _subset_fits_ensemble(self) -> Config:
        if self.loss.target_subset > self.model.num_critics:
            raise ValueError("loss.target_subset cannot exceed model.num_critics")
        if self.optimizer.micro_batches > self.optimizer.batch_size:
            raise ValueError("optimizer.micro_batches cannot exceed optimizer.batch_size")
        return self


class ConfigError(AmagoError):
    """A configuration that cannot be used; the message names every bad key."""


def from_mapping(mapping: dict[str, Any]) -> Config:
    """Validate a nested mapping (from JSON, TOML or presets); unknown keys and bad values raise `ConfigError`."""
    try:
        return Config.model_validate(mapping)
    except ValidationError as error:
        raise ConfigError(_explain(error)) from None


def override(config: Config, changes: dict[str, Any]) -> Config:
    """A copy of `config` with dotted keys replaced, for example `{"optimizer.batch_size": 8}`.

    Another `env.name` brings that environment's own fields with their defaults.
    """
    mapping = config.model_dump()
    name = changes.get("env.name", config.env.name)
    if name != config.env.name:
        mapping["env"] = _environment(name)
    for key, value in changes.items():
        section, _, field = key.partition(".")
        if section not in mapping or field not in mapping[section]:
            hint = _belongs_elsewhere(key, name) or suggestion(key)
            raise ConfigError(f"unknown configuration key '{key}'{hint}; see `amago train --show-config`")
        mapping[section][field] = value
    return from_mapping(mapping)


def environment_names() -> list[str]:
    """What can be played: the values of `env.name`, but for the environment of which there are only data."""
    return [name for name in _environment_sections() if name != UNPLAYABLE]


def keys(config: Config) -> dict[str, str]:
    """Every dotted key of `config` with its description, in the order of the sections."""
    return {
        f"{section}.{name}": field.description or ""
        for section in Config.model_fields
        for name, field in type(getattr(config, section)).model_fields.items()
    }


def suggestion(key: str) -> str:
    """' (did you mean ...?)' for a mistyped key, or nothing when no key comes near."""
    import difflib

    known, field = _known_keys(), key.rpartition(".")[2]
    near = [k for k in known if "_" in k and field == _initials(k)]
    near = near or difflib.get_close_matches(key, known, n=1, cutoff=0.6)
    near = near or [k for k in known if k.split(".")[1] == field]
    return f" (did you mean '{near[0]}'?)" if near else ""


def _environment_sections() -> dict[str, type[Section]]:
    """The classes of the `env` section by environment."""
    sections = get_args(get_args(EnvConfig)[0])
    return {get_args(section.model_fields["name"].annotation)[0]: section for section in sections}


def _environment(name: str) -> dict[str, Any]:
    """The `env` section of another environment, with its defaults."""
    sections = _environment_sections()
    if name not in sections:
        raise ConfigError(f"env.name: there is no environment '{name}', only {', '.join(environment_names())}")
    return sections[name].model_validate({"name": name}).model_dump()


def _belongs_elsewhere(key: str, name: str) -> str:
    """' (a field of ...)' for a field that other environments have and `name` does not."""
    section, _, field = key.partition(".")
    owners = [other for other, fields in _environment_sections().items() if field in fields.model_fields]
    has = "has" if len(owners) == 1 else "have"
    return f" ({name} has no such field; {', '.join(owners)} {has})" if section == "env" and owners else ""


def _known_keys() -> list[str]:
    """The keys of every section, and of the `env` section of every environment."""
    others = [f"{section}.{name}" for section, part in Config().model_dump().items() for name in part]
    return list(
        dict.fromkeys(
            [f"env.{name}" for section in _environment_sections().values() for name in section.model_fields] + others
        )
    )


def _initials(key: str) -> str:
    """'lr' of "optimizer.learning_rate"."""
    return "".join(word[0] for word in key.split(".")[1].split("_"))


def _explain(error: ValidationError) -> str:
    lines = []
    for item in error.errors():
        section, *path = item["loc"] or ("",)
        if section == "env" and path and path[0] in _environment_sections():
            path = path[1:]  # which of the classes it was: not a part of the key
        key = ".".join(str(part) for part in (section, *path))
        if item["type"] == "extra_forbidden":
            lines.append(f"unknown configuration key '{key}'{suggestion(key)}")
        else:
            got = "" if isinstance(item["input"], dict | BaseModel) else f", got {item['input']!r}"
            message = item["msg"].removeprefix("Value error, ")
            lines.append(f"{key}: {message}{got}" if key else message)
    return "; ".join(lines)
