"""The whole training forward pass against a plain loop, gradient routing, and what padding may not do."""

import copy
from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy.stats import norm
from tiny_agent import KINDS, random_batch, tiny_config, tiny_model, with_other_padding

from agent.batch import ACTION_MASK, Batch
from agent.config import Config
from agent.forward import Terms, loss_terms
from agent.losses.actor import MAX_WEIGHT
from agent.nets.heads import ChoiceCritic, CriticHead, EnsembleLinear
from agent.nets.model import AgentModel
from agent.nets.transformer import NEGATIVE_SLOPE

CROSSINGS = [(actor, critic) for actor in ("dep", "ind") for critic in ("dep", "ind")]
crossings = pytest.mark.parametrize(("actor", "critic"), CROSSINGS)
kinds = pytest.mark.parametrize("kind", KINDS)
SUBSET = torch.tensor([2, 0])


def crossing(actor: str, critic: str, **more) -> Config:
    return tiny_config(loss__actor=actor, loss__critic=critic, **more)


def agent_of(config: Config, kind: str = "discrete", seed: int = 0) -> AgentModel:
    """With statistics of PopArt that are not where they start."""
    model = tiny_model(config, seed, KINDS[kind][0])
    targets = 2 + 3 * torch.randn(4, 5, len(config.loss.discounts))
    model.popart.update(targets, torch.ones(4, 5, dtype=torch.bool))
    return model


def terms_of(model: AgentModel, batch: Batch, config: Config, subset: torch.Tensor = SUBSET, seed: int = 0) -> Terms:
    """Draws of actions are the same for the same `seed`."""
    torch.manual_seed(seed)
    return loss_terms(model, batch, config.loss, subset)


def symlog(x: float) -> float:
    return float(np.sign(x) * np.log1p(abs(x)))


def symexp(x: float) -> float:
    return float(np.sign(x) * np.expm1(abs(x)))


def softmax(x: np.ndarray) -> np.ndarray:
    exponentials = np.exp(x - x.max())
    return exponentials / exponentials.sum()


def leaky(x: np.ndarray) -> np.ndarray:
    return np.where(x > 0, x, NEGATIVE_SLOPE * x)


class Reference:
    """The losses of AMAGO-2, Eqs. 1-4, one number at a time, with the networks' layers in plain NumPy.

    Actions that are drawn come from the model's own distributions, in the order and with the seed of `terms_of`.
    """

    def __init__(self, model: AgentModel, batch: Batch, config: Config, subset: list[int], seed: int = 0) -> None:
        self.model, self.batch, self.config, self.loss = model, batch, config, config.loss
        with torch.no_grad():
            states = model.representation(batch.inputs).states
            self.states = states.double().numpy()
            self.executed = model.code.encode(batch.actions).double().numpy()  # (B, L, E)
            legal = batch.inputs.legal
            here, after = (None, None) if legal is None else (legal[:, :-1], legal[:, 1:])
            torch.manual_seed(seed)
            self.after = self.tries(model.target_actor, states[:, 1:], after)
            self.here = self.tries(model.actor, states[:, :-1], here)
            if not self.counted:
                policy = model.policy(model.actor, states[:, :-1], here)
                self.log_probs = policy.log_prob(model.code.encode(batch.actions).unsqueeze(-2)).double().numpy()
        self.layers: dict[EnsembleLinear, tuple[np.ndarray, np.ndarray]] = {}
        self.mu, self.sigma = model.popart.mu.numpy(), model.popart.sigma.numpy()
        self.centers = model.bin_centers.double().numpy()
        self.targets = np.zeros((*batch.valid.shape, len(self.loss.discounts)))
        for b, t, g in np.ndindex(*self.targets.shape):
            if batch.valid[b, t]:
                self.targets[b, t, g] = self.target(b, t, g, self.loss.num_steps, subset)

    @property
    def counted(self) -> bool:
        return isinstance(self.model.critics, ChoiceCritic)

    def tries(self, actor, states: torch.Tensor, legal: torch.Tensor | None) -> tuple[np.ndarray, np.ndarray]:
        """Weights (B, L, G, M) and actions (B, L, G, M, E) that stand for a policy."""
        raw = actor(states)
        if not self.counted:
            choices = self.model.policy(actor, states, legal).choices(self.loss.action_samples)
            assert choices.actions is not None
            return choices.weights.double().numpy(), choices.actions.double().numpy()
        logits = raw.double().numpy()
        if legal is not None:
            allowed = legal.numpy() | ~legal.numpy().any(-1, keepdims=True)
            logits = np.where(allowed[:, :, None], logits, -np.inf)
        num_actions = logits.shape[-1]
        weights = np.apply_along_axis(softmax, -1, logits)
        return weights, np.broadcast_to(np.eye(num_actions), (*logits.shape, num_actions))

    def outputs(self, head: CriticHead, c: int, x: np.ndarray, action: np.ndarray) -> np.ndarray:
        """(G, U) of critic `c` for `action` (E,) in state `x`."""

        def apply(layer: EnsembleLinear, y: np.ndarray) -> np.ndarray:
            if layer not in self.layers:
                self.layers[layer] = layer.weight.detach().double().numpy(), layer.bias.detach().double().numpy()
            weight, bias = self.layers[layer]
            return y @ weight[c] + bias[c, 0]

        if self.counted:
            out = apply(head.out, leaky(apply(head.second, leaky(apply(head.first, x)))))
            return out.reshape(head.shape)[:, action.argmax()]
        wide = leaky(apply(head.first, x) + apply(head.act, action))
        return apply(head.out, leaky(apply(head.second, wide))).reshape(head.shape)[:, 0]

    def value(self, head: CriticHead, c: int, x: np.ndarray, action: np.ndarray, g: int) -> float:
        out = self.outputs(head, c, x, action)[g]
        if self.loss.critic == "dep":
            return float(self.sigma[g] * out[0] + self.mu[g])
        mean = float(softmax(out) @ self.centers)
        return symexp(mean) if self.loss.value_symlog else mean

    def target(self, b: int, t: int, g: int, steps: int, subset: list[int]) -> float:
        """r + gamma times what comes after; with `steps` of reward to come, this one included."""
        loss, batch = self.loss, self.batch
        reward = float(batch.rewards[b, t]) * loss.reward_scale
        if batch.terminated[b, t] or (loss.time_limit == "terminal" and batch.truncated[b, t]):
            return reward
        last = t + 1 == batch.valid.shape[1] or not batch.valid[b, t + 1]
        if steps > 1 and not last and not batch.truncated[b, t]:
            return reward + loss.discounts[g] * self.target(b, t + 1, g, steps - 1, subset)
        weights, actions = self.after
        values = [
            sum(
                weights[b, t, g, m] * self.value(self.model.target_critics, c, self.states[b, t + 1], action, g)
                for m, action in enumerate(actions[b, t, g])
            )
            for c in subset
        ]
        return reward + loss.discounts[g] * (min(values) if loss.actor == "dep" else sum(values) / len(values))

    def losses(self) -> tuple[float, float]:
        actor, critic = [], []
        for b, t in np.argwhere(self.batch.valid.numpy()).tolist():
            for g in range(len(self.loss.discounts)):
                critic += self.critic_losses(b, t, g)
                actor.append(self.actor_loss(b, t, g))
        return float(np.mean(actor)), float(np.mean(critic))

    def critic_losses(self, b: int, t: int, g: int) -> list[float]:
        critics, y = self.model.critics, self.targets[b, t, g]
        outs = [self.outputs(critics, c, self.states[b, t], self.executed[b, t])[g] for c in range(critics.num_critics)]
        if self.loss.critic == "dep":
            return [(float(out[0]) - (y - self.mu[g]) / self.sigma[g]) ** 2 for out in outs]
        label = self.label(symlog(y) if self.loss.value_symlog else y)
        return [-float(label @ np.log(softmax(out))) for out in outs]

    def label(self, y: float) -> np.ndarray:
        """(U,) that sums to one."""
        centers, spacing = self.centers, self.centers[1] - self.centers[0]
        y = float(np.clip(y, centers[0], centers[-1]))
        if self.loss.value_labels == "two_hot":
            return np.maximum(0, 1 - np.abs(y - centers) / spacing)
        law = norm(y, 0.75 * spacing)
        mass = law.cdf(centers + spacing / 2) - law.cdf(centers - spacing / 2)
        return mass / mass.sum()

    def actor_loss(self, b: int, t: int, g: int) -> float:
        loss, critics = self.loss, self.model.critics
        p, tried = self.here[0][b, t, g], self.here[1][b, t, g]
        x, ensemble = self.states[b, t], range(critics.num_critics)
        q = np.array([[self.value(critics, c, x, action, g) for action in tried] for c in ensemble])
        taken = np.mean([self.value(critics, c, x, self.executed[b, t], g) for c in ensemble])
        advantage = taken - p @ q.mean(0)
        log_prob = np.log(p[self.executed[b, t].argmax()]) if self.counted else self.log_probs[b, t, g]
        binary = loss.advantage_filter == "binary"
        worth = float(advantage > 0) if binary else min(np.exp(advantage / loss.advantage_temperature), MAX_WEIGHT)
        cloning = -worth * log_prob if worth else 0.0
        if loss.actor == "ind":
            return cloning
        if loss.critic == "dep":
            q = (q - self.mu[g]) / self.sigma[g]
        return loss.policy_gradient_weight * -(p @ q.min(0)) + loss.cloning_weight * cloning


def assert_as_reference(model: AgentModel, batch: Batch, config: Config) -> None:
    reference = Reference(model, batch, config, SUBSET.tolist())
    terms = terms_of(model, batch, config)
    expected_actor, expected_critic = reference.losses()
    assert terms.actor.item() == pytest.approx(expected_actor, rel=1e-3, abs=1e-4)
    assert terms.critic.item() == pytest.approx(expected_critic, rel=1e-3, abs=1e-4)
    np.testing.assert_allclose(terms.targets[batch.valid], reference.targets[batch.valid], rtol=1e-3, atol=1e-4)
    acting = reference.targets[..., -1][batch.valid].mean()
    assert terms.diagnostics["target"].item() == pytest.approx(acting, rel=1e-3)


@crossings
@pytest.mark.parametrize("time_limit", ["bootstrap", "terminal"])
@torch.no_grad()
def test_losses_against_plain_loops(actor, critic, time_limit):
    config = crossing(actor, critic, loss__time_limit=time_limit)
    assert_as_reference(agent_of(config), random_batch(1), config)


@crossings
@kinds
@torch.no_grad()
def test_losses_of_every_kind_of_action_against_plain_loops(actor, critic, kind):
    """With everything that may be configured otherwise: n-step returns, soft filter, Gaussian labels."""
    config = crossing(
        actor, critic, loss__num_steps=3, loss__advantage_filter="exp", loss__advantage_temperature=2.0,
        loss__value_labels="hl_gauss", loss__action_samples=3, **KINDS[kind][1],
    )  # fmt: skip
    assert_as_reference(agent_of(config, kind), random_batch(1, interface=KINDS[kind][0]), config)


@crossings
@kinds
@torch.no_grad()
def test_the_entropy_is_taken_off_the_actors_loss(actor, critic, kind):
    changes, batch = KINDS[kind][1], random_batch(1, interface=KINDS[kind][0])
    plain, rewarded = (crossing(actor, critic, loss__entropy_weight=weight, **changes) for weight in (0.0, 0.25))
    model = agent_of(plain, kind)
    terms = []
    for config in (plain, rewarded):
        torch.manual_seed(0)  # the same draws of actions
        terms.append(terms_of(model, batch, config))
    expected = terms[0].actor - 0.25 * terms[0].diagnostics["entropy"]
    torch.testing.assert_close(terms[1].actor, expected)
    torch.testing.assert_close(terms[1].critic, terms[0].critic)


@torch.no_grad()
def test_the_linear_filter_looks_at_valid_steps_only():
    """Whatever lies behind the end of a rollout, the losses are the same."""
    config = crossing("ind", "dep", loss__advantage_filter="linear")
    model, batch = tiny_model(config), random_batch(2)
    assert not batch.valid.all(), "no steps that do not exist"
    other = replace(batch, rewards=torch.where(batch.valid, batch.rewards, 1e6))
    assert terms_of(model, batch, config).actor == terms_of(model, other, config).actor > 0


@pytest.mark.parametrize("kind", ["masked", "bits", "mixture"])
@torch.no_grad()
def test_the_hard_filter_of_other_actions(kind):
    config = crossing("ind", "ind", **KINDS[kind][1])
    assert_as_reference(agent_of(config, kind), random_batch(1, interface=KINDS[kind][0]), config)


@torch.no_grad()
def test_value_bins_without_symlog():
    config = crossing("ind", "ind", loss__value_symlog=False, loss__value_max=20.0)
    model, batch = tiny_model(config), random_batch(2)
    assert_as_reference(model, batch, config)


@crossings
@torch.no_grad()
def test_only_the_drawn_critics_make_targets(actor, critic):
    config = crossing(actor, critic)
    model, batch = tiny_model(config), random_batch(3)
    before = terms_of(copy.deepcopy(model), batch, config).diagnostics["target"]

    def target_when_moved(member: int) -> torch.Tensor:
        moved = copy.deepcopy(model)
        moved.target_critics.out.bias[member].copy_(5 * torch.randn_like(moved.target_critics.out.bias[member]))
        return terms_of(moved, batch, config).diagnostics["target"]

    assert target_when_moved(1) == before
    assert any(target_when_moved(member) != before for member in SUBSET.tolist())


@torch.no_grad()
def test_dependent_actors_take_the_lowest_critic_independent_ones_the_mean():
    batch, targets = random_batch(4), {}
    for actor in ("dep", "ind"):
        config = crossing(actor, "dep")
        model = tiny_model(config)
        targets[actor] = [
            terms_of(copy.deepcopy(model), batch, config, torch.tensor(subset)).diagnostics["target"].item()
            for subset in ([0], [1], [0, 1])
        ]
    one, other, both = targets["ind"]
    assert both == pytest.approx((one + other) / 2, rel=1e-4)
    one, other, both = targets["dep"]
    assert both <= min(one, other) + 1e-5


@torch.no_grad()
def test_every_discount_makes_its_own_targets():
    """Values of one everywhere, no reward: the target of the last discount is the last discount."""
    config = crossing("ind", "dep", loss__discounts=(0.2, 0.5, 0.8))
    model, batch = tiny_model(config), random_batch(5, lengths=(6, 6))
    batch = replace(batch, rewards=torch.zeros_like(batch.rewards), terminated=torch.zeros_like(batch.terminated))
    for parameter, value in ((model.target_critics.out.weight, 0.0), (model.target_critics.out.bias, 1.0)):
        parameter.fill_(value)
    terms = terms_of(model, batch, config)
    torch.testing.assert_close(terms.targets, torch.tensor([0.2, 0.5, 0.8]).expand(2, 6, 3))


@torch.no_grad()
def test_n_step_targets_stop_at_the_end_of_the_window_and_of_the_attempt():
    """With values of zero an n-step target is a sum of discounted rewards."""
    config = crossing("ind", "dep", loss__num_steps=3, loss__reward_scale=1.0, loss__discounts=(0.5,))
    model, batch = tiny_model(config), random_batch(5, lengths=(6, 3))
    batch = replace(batch, rewards=torch.ones_like(batch.rewards))
    model.target_critics.out.weight.zero_()
    model.target_critics.out.bias.zero_()
    terms = terms_of(model, batch, config)
    full = [1.75] * 4 + [1.5, 1.0] + [1.75, 1.5, 1.0]
    assert terms.diagnostics["target"].item() == pytest.approx(np.mean(full))


def gradients(model: AgentModel, loss: torch.Tensor) -> dict[str, torch.Tensor]:
    """By name; parameters that `loss` does not reach are absent or zero."""
    model.zero_grad(set_to_none=True)
    loss.backward(retain_graph=True)
    return {name: p.grad.clone() for name, p in model.named_parameters() if p.grad is not None}


def reached(model: AgentModel, loss: torch.Tensor) -> set[str]:
    return {name.split(".")[0] for name, gradient in gradients(model, loss).items() if gradient.abs().sum() > 0}


@crossings
@kinds
def test_gradients_go_where_they_should(actor, critic, kind):
    config = crossing(actor, critic, **KINDS[kind][1])
    model = agent_of(config, kind)
    terms = terms_of(model, random_batch(6, interface=KINDS[kind][0]), config)
    assert reached(model, terms.actor) == {"representation", "actor"}
    assert reached(model, terms.critic) == {"representation", "critics"}
    assert not any(parameter.grad is not None for parameter in model.target_critics.parameters())
    assert not any(parameter.grad is not None for parameter in model.target_actor.parameters())
    assert not any(buffer.requires_grad for buffer in model.buffers())
    assert not terms.targets.requires_grad
    assert not any(value.requires_grad for value in terms.diagnostics.values())
    if config.model.foresight:
        assert terms.foresight is not None and reached(model, terms.foresight) == {"representation"}
    else:
        assert terms.foresight is None


@pytest.mark.parametrize("critic", ["dep", "ind"])
@kinds
def test_the_policy_gradient_alone_reaches_encoder_and_actor(critic, kind):
    """Without cloning: the whole way through the critics, of which nothing moves."""
    config = crossing("dep", critic, loss__cloning_weight=0.0, **KINDS[kind][1])
    model = agent_of(config, kind)
    terms = terms_of(model, random_batch(6, interface=KINDS[kind][0]), config)
    assert reached(model, terms.actor) == {"representation", "actor"}
    assert not any(name.startswith("critics") for name in gradients(model, terms.actor))


@pytest.mark.parametrize("critic", ["dep", "ind"])
@pytest.mark.parametrize("kind", ["gaussian", "mixture", "beta", "bits"])
def test_the_policy_gradient_climbs_the_values(critic, kind):
    """A small step against the gradient of the actor's loss raises the values of fresh draws."""
    config = crossing("dep", critic, loss__cloning_weight=0.0, loss__action_samples=512, **KINDS[kind][1])
    model, batch = agent_of(config, kind), random_batch(6, interface=KINDS[kind][0])
    before = terms_of(model, batch, config, seed=1).actor.item()
    slopes = gradients(model, terms_of(model, batch, config, seed=2).actor)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if name.startswith("actor.out"):
                parameter -= 0.1 * slopes[name] / slopes["actor.out.weight"].norm()
    assert terms_of(model, batch, config, seed=1).actor.item() < before


@crossings
@pytest.mark.parametrize(
    "kind", [kind for kind in KINDS if kind != "beta"]
)  # whose draws move the generator as they fall
def test_padding_changes_nothing(actor, critic, kind):
    interface, more = KINDS[kind]
    config = crossing(actor, critic, loss__num_steps=3, **more)
    batch = random_batch(7, interface=interface)
    results = []
    for variant in (batch, with_other_padding(batch, seed=8, interface=interface)):
        model = agent_of(config, kind)
        terms = terms_of(model, variant, config)
        results.append((terms, gradients(model, terms.actor + terms.critic)))
    (one, slopes), (other, other_slopes) = results
    torch.testing.assert_close(one.actor, other.actor)
    torch.testing.assert_close(one.critic, other.critic)
    torch.testing.assert_close(one.targets[batch.valid], other.targets[batch.valid])
    for name, value in one.diagnostics.items():
        torch.testing.assert_close(value, other.diagnostics[name], msg=name)
    for name, slope in slopes.items():
        torch.testing.assert_close(slope, other_slopes[name], rtol=1e-4, atol=1e-6, msg=name)


@pytest.mark.parametrize("kind", ["discrete", "gaussian"])
@pytest.mark.parametrize("critic", ["dep", "ind"])
@torch.no_grad()
def test_decoding_in_chunks_is_decoding_at_once(monkeypatch, critic, kind):
    from agent import values

    config = crossing("dep", critic, **KINDS[kind][1])
    model, batch = agent_of(config, kind), random_batch(9, interface=KINDS[kind][0])
    whole = terms_of(model, batch, config)
    monkeypatch.setitem(values._CHUNK, "cpu", 100)
    pieces = terms_of(model, batch, config)
    torch.testing.assert_close(pieces.actor, whole.actor)
    torch.testing.assert_close(pieces.targets, whole.targets)
    torch.testing.assert_close(pieces.diagnostics, whole.diagnostics)


class TestMasks:
    @staticmethod
    def with_illegal(batch: Batch, action: int) -> Batch:
        """The same batch in which `action` is never legal, nor done."""
        mask = batch.inputs.observations[ACTION_MASK].clone()
        mask[..., action], mask[..., (action + 1) % 3] = 0, 1
        actions = torch.where(batch.actions == action, (action + 1) % 3, batch.actions)
        mask[:, :-1].scatter_(2, actions[..., None], 1)
        inputs = replace(batch.inputs, observations={**batch.inputs.observations, ACTION_MASK: mask})
        return replace(batch, inputs=inputs, actions=actions)

    @crossings
    @pytest.mark.parametrize("action", [0, 2])
    def test_values_of_illegal_actions_have_no_influence(self, actor, critic, action):
        config = crossing(actor, critic, loss__advantage_filter="exp")
        batch = self.with_illegal(random_batch(3, interface=KINDS["masked"][0]), action)
        results = []
        for scale in (0.0, 100.0):
            model = agent_of(config, "masked")
            with torch.no_grad():
                for head in (model.critics, model.target_critics):
                    for parameter in (head.out.weight, head.out.bias):
                        columns = parameter.unflatten(-1, head.shape)[..., action, :]
                        columns += scale * torch.randn_like(columns)
                for policy in (model.actor, model.target_actor):
                    policy.out.bias.unflatten(0, policy.shape)[:, action] += scale
            terms = terms_of(model, batch, config)
            results.append((terms, gradients(model, terms.actor + terms.critic)))
        (one, slopes), (other, others) = results
        torch.testing.assert_close((one.actor, one.critic), (other.actor, other.critic))
        torch.testing.assert_close(one.diagnostics, other.diagnostics)
        for name, slope in slopes.items():
            torch.testing.assert_close(slope, others[name], msg=name)
        assert slopes["actor.out.bias"].unflatten(0, (-1, 3))[:, action].abs().sum() == 0

    @crossings
    @torch.no_grad()
    def test_a_mask_that_allows_everything_is_none(self, actor, critic):
        config = crossing(actor, critic)
        model = agent_of(config, "masked")
        batch = random_batch(3, interface=KINDS["masked"][0])
        batch.inputs.observations[ACTION_MASK].fill_(1)
        everything = terms_of(model, batch, config)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(type(batch.inputs), "legal", None)
            without = terms_of(model, batch, config)
        torch.testing.assert_close((everything.actor, everything.critic), (without.actor, without.critic))

    @torch.no_grad()
    def test_masks_matter(self):
        config = crossing("dep", "dep")
        model, batch = agent_of(config, "masked"), random_batch(3, interface=KINDS["masked"][0])
        masked = terms_of(model, batch, config)
        batch.inputs.observations[ACTION_MASK].fill_(1)
        assert (terms_of(model, batch, config).targets - masked.targets).abs().max() > 1e-3


class TestSeveralAttempts:
    """Windows with hidden resets: the value of an attempt is worth something to the one before."""

    @staticmethod
    def batch_of(seed: int = 5, kind: str = "discrete") -> Batch:
        """Attempts begin at steps 2 and 4 of the first row, at 3 of the others."""
        batch = random_batch(seed, lengths=(6, 6, 4), interface=KINDS[kind][0])
        batch.terminated.zero_()
        batch.terminated[0, 5] = True
        begun = batch.inputs.is_first.clone()
        begun[0, [2, 4]], begun[1:, 3] = True, True
        return replace(batch, inputs=replace(batch.inputs, is_first=begun))

    @crossings
    @pytest.mark.parametrize("kind", ["discrete", "gaussian"])
    @torch.no_grad()
    def test_losses_against_plain_loops(self, actor, critic, kind):
        """The reference knows nothing of attempts."""
        config = crossing(actor, critic, loss__num_steps=4, **KINDS[kind][1])
        assert_as_reference(agent_of(config, kind), self.batch_of(kind=kind), config)

    @pytest.mark.parametrize(("num_steps", "expected"), [(1, [0, 0, 0, 0, 0, 8]), (6, [0.25, 0.5, 1, 2, 4, 8])])
    @torch.no_grad()
    def test_rewards_flow_back_across_attempts(self, num_steps, expected):
        config = crossing("ind", "dep", loss__num_steps=num_steps, loss__reward_scale=1.0, loss__discounts=(0.5,))
        model, batch = tiny_model(config), self.batch_of()
        batch.rewards.zero_()
        batch.rewards[0, 5] = 8.0
        model.target_critics.out.weight.zero_()
        model.target_critics.out.bias.zero_()
        targets = terms_of(model, batch, config).targets[0, :, 0]
        torch.testing.assert_close(targets, torch.tensor(expected, dtype=torch.float32))

    @torch.no_grad()
    def test_one_step_targets_bootstrap_across_attempts(self):
        """With values of one everywhere every target that does not end the rollout is the discount."""
        config = crossing("ind", "dep", loss__discounts=(0.5,))
        model, batch = tiny_model(config), self.batch_of()
        batch.rewards.zero_()
        model.target_critics.out.weight.zero_()
        model.target_critics.out.bias.fill_(1.0)
        targets = terms_of(model, batch, config).targets[0, :, 0]
        torch.testing.assert_close(targets, torch.tensor([0.5] * 5 + [0.0]))

    @torch.no_grad()
    def test_the_beginning_of_an_attempt_is_seen(self):
        config = crossing("dep", "dep")
        model, batch = agent_of(config), self.batch_of()
        hidden = replace(batch, inputs=replace(batch.inputs, is_first=torch.zeros_like(batch.inputs.is_first)))
        assert terms_of(model, batch, config).actor != terms_of(model, hidden, config).actor

    @crossings
    def test_padding_changes_nothing(self, actor, critic):
        config = crossing(actor, critic, loss__num_steps=3)
        model, batch = agent_of(config), self.batch_of()
        one, other = (terms_of(model, variant, config) for variant in (batch, with_other_padding(batch, seed=8)))
        torch.testing.assert_close((one.actor, one.critic), (other.actor, other.critic))
        torch.testing.assert_close(one.targets[batch.valid], other.targets[batch.valid])
