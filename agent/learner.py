"""Optimiser steps: the only place where parameters change.

Knows the model, the losses and AdamW. Does not know where batches come from or who uses the weights.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from agent.batch import Batch
from agent.config import Config
from agent.forward import Terms, loss_terms
from agent.nets.linear import iterate_power
from agent.nets.model import AgentModel
from agent.nets.shift import randomly_shifted
from store.errors import DivergedError


class Learner:
    """Holds the model, its optimiser and the number of updates so far."""

    def __init__(self, model: AgentModel, config: Config) -> None:
        self.model = model
        self.config = config
        self.update_count = 0
        self.device = model.discounts.device
        self.named = {name: p for name, p in model.named_parameters() if p.requires_grad}
        is_matrix = {name: p.ndim >= 2 and not name.endswith("bias") for name, p in self.named.items()}
        matrices = [p for name, p in self.named.items() if is_matrix[name]]
        others = [p for name, p in self.named.items() if not is_matrix[name]]
        self.optimizer = torch.optim.AdamW(
            [
                {"params": matrices, "weight_decay": config.optimizer.weight_decay},
                {"params": others, "weight_decay": 0.0},
            ],
            lr=config.optimizer.learning_rate,
            betas=(0.9, config.optimizer.beta2),
            fused=self.device.type == "cuda" or None,
        )

    def update(self, batch: Batch, rng: np.random.Generator) -> dict[str, float]:
        """One optimiser step on `batch`, in as many parts as configured; returns metrics.

        Everything random (the target critics, draws of actions) follows from `rng`; torch's global generator is seeded
        from it. DivergedError if a loss or the gradient is not finite: no step is taken then.
        """
        batch = batch.to(self.device)
        self.model.representation.encoder.update_statistics(batch.inputs, batch.token_valid)
        iterate_power(self.model)
        self.optimizer.zero_grad(set_to_none=True)
        terms, shares = self._backward(batch, rng)
        norm = torch.nn.utils.clip_grad_norm_(self.named.values(), self.config.optimizer.clip_norm)
        metrics = _metrics(terms, shares, norm, batch)
        self._require_finite(metrics, batch)
        self._set_learning_rate()
        self.optimizer.step()
        self.model.update_targets(self.config.loss.target_tau)
        if self.config.loss.critic == "dep":
            targets = torch.cat([part.targets for part in terms])
            self.model.popart.update(targets, batch.valid, self.model.critics, self.model.target_critics)
        self.update_count += 1
        return metrics

    def _backward(self, batch: Batch, rng: np.random.Generator) -> tuple[list[Terms], list[Tensor]]:
        """Accumulate the gradient of the whole batch's mean loss over its parts; the parts' terms and shares."""
        config = self.config
        drawn = rng.choice(config.model.num_critics, config.loss.target_subset, replace=False)
        subset = torch.from_numpy(drawn).to(self.device)
        torch.manual_seed(int(rng.integers(2**63)))
        batch = self._augmented(batch)
        num_valid = batch.valid.sum().clamp(min=1)
        terms, shares = [], []
        for part in batch.split(config.optimizer.micro_batches):
            with torch.autocast(self.device.type, torch.bfloat16, enabled=config.optimizer.bf16):
                found = loss_terms(self.model, part, config.loss, subset)
            share = part.valid.sum() / num_valid  # the losses are means over the part's steps
            loss = found.actor + config.loss.critic_weight * found.critic
            if found.foresight is not None:
                loss = loss + config.loss.foresight_weight * found.foresight
            (share * loss).backward()
            terms.append(found)
            shares.append(share)
        return terms, shares

    def _augmented(self, batch: Batch) -> Batch:
        """`batch` with its images moved a little, at random."""
        seen = batch.inputs.observations
        names = self.model.representation.encoder.images
        moved = {name: randomly_shifted(seen[name], self.config.model.random_shift) for name in names}
        return replace(batch, inputs=replace(batch.inputs, observations={**seen, **moved}))

    def _set_learning_rate(self) -> None:
        optimizer = self.config.optimizer
        warm = min(1.0, (self.update_count + 1) / max(optimizer.warmup_updates, 1))
        for group in self.optimizer.param_groups:
            group["lr"] = optimizer.learning_rate * warm

    def _require_finite(self, metrics: dict[str, float], batch: Batch) -> None:
        bad = [name for name, value in metrics.items() if not np.isfinite(value)]
        if not bad:
            return
        culprit = _first_not_finite(self.model, batch)
        raise DivergedError(
            f"{', '.join(bad)} not finite at update {self.update_count + 1} (first bad tensor: {culprit}); "
            "the last checkpoint is good: go on from it with a smaller step, "
            f"`--set optimizer.learning_rate={self.config.optimizer.learning_rate / 3:.1g}` beside `--resume`"
        )

    def state(self) -> dict[str, Tensor]:
        """The optimiser's moments by parameter name, and how many steps each has seen."""
        tensors: dict[str, Tensor] = {}
        for name, parameter in self.named.items():
            for key, value in self.optimizer.state.get(parameter, {}).items():
                tensors[f"{name}.{key}"] = torch.as_tensor(value).detach().cpu()
        return tensors

    def load_state(self, tensors: dict[str, Tensor], update_count: int) -> None:
        """Take over what `state` returned; KeyError if it belongs to another model."""
        unknown = {key.rsplit(".", 1)[0] for key in tensors} - self.named.keys()
        if unknown:
            raise KeyError(min(unknown))
        self.update_count = update_count
        states: dict[str, dict[str, Tensor]] = {}
        for key, tensor in tensors.items():
            name, _, entry = key.rpartition(".")
            states.setdefault(name, {})[entry] = tensor
        for name, state in states.items():
            parameter = self.named[name]
            moved = {entry: tensor.to(parameter.device) for entry, tensor in state.items()}
            if not self.optimizer.defaults["fused"]:
                moved["step"] = state["step"]  # the plain optimiser counts on the CPU
            self.optimizer.state[parameter] = moved


def _metrics(terms: list[Terms], shares: list[Tensor], norm: Tensor, batch: Batch) -> dict[str, float]:
    rows = [{"actor_loss": part.actor, "critic_loss": part.critic, **part.diagnostics} for part in terms]
    with torch.no_grad():
        values = {key: sum(share * row[key] for share, row in zip(shares, rows, strict=True)) for key in rows[0]}
        values |= {"gradient_norm": norm, "valid_ratio": batch.valid.float().mean()}
        numbers = torch.stack([torch.as_tensor(value).float() for value in values.values()]).tolist()  # one transfer
    return dict(zip(values, numbers, strict=True))


def _first_not_finite(model: AgentModel, batch: Batch) -> str:
    for name, value in batch.inputs.observations.items():
        if value.is_floating_point() and not value.isfinite().all():
            return f"observation '{name}'"
    if not batch.rewards.isfinite().all():
        return "rewards"
    for name, parameter in model.named_parameters():
        if not parameter.isfinite().all():
            return f"parameter {name}"
    for name, parameter in model.named_parameters():
        if parameter.grad is not None and not parameter.grad.isfinite().all():
            return f"gradient of {name}"
    return "none in inputs, parameters or gradients"
