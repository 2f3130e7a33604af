"""The compiled Crafter against the package's, in lock step: every number of the state after every step."""

from collections import Counter, deque
from collections.abc import Iterator

import numpy as np
import pytest
from crafter import constants, objects
from opensimplex.internals import _init, _noise3

from agent.envs.crafter import fast_noise, fast_random, fast_recipes
from agent.envs.crafter.engine import ACTIONS, DEATH_CAUSES, FACINGS, ITEMS, NUM_ACTIONS, WORLD_SIZE
from agent.envs.crafter.fast import FastEngine, daylight_at
from agent.envs.crafter.fast_world import PLAYER, WALKABLE, WORLD
from agent.envs.crafter.package import PackageEngine
from agent.envs.crafter.textures import MATERIAL_IDS, MATERIALS
from agent.goals.vocabulary import ACHIEVEMENTS

KINDS = (objects.Player, objects.Cow, objects.Zombie, objects.Skeleton, objects.Arrow, objects.Plant)
TIMERS = {objects.Zombie: "cooldown", objects.Skeleton: "reload", objects.Plant: "grown"}
POLICIES = ("random", "seeker", "sleeper", "farmer", "archer")


class Pair:
    """Both engines, fed the same actions, and every comparison between them."""

    def __init__(self) -> None:
        self.fast = FastEngine()
        self.package = PackageEngine()

    def reset(self, seed: int) -> None:
        self.fast.reset(seed)
        self.package.reset(seed)
        self.compare()

    def step(self, action: int) -> None:
        self.fast.step(action)
        self.package.step(action)
        self.compare()

    def give(self, **items: int) -> None:
        """Set entries of both inventories."""
        for name, count in items.items():
            self.fast.inventory[ITEMS.index(name)] = count
            self.package._game.player.inventory[name] = count

    def compare(self) -> None:
        for name in ("view", "inventory", "position", "achievements"):
            ours, theirs = getattr(self.fast, name), getattr(self.package, name)
            assert ours.dtype == theirs.dtype and np.array_equal(ours, theirs), name
        for name in ("facing", "daylight", "dead", "death_cause", "sleeping"):
            ours, theirs = getattr(self.fast, name), getattr(self.package, name)
            assert type(ours) is type(theirs) and ours == theirs, name
        self._compare_hidden()

    def _compare_hidden(self) -> None:
        ours, game = self.fast.world[0], self.package._game
        world, player = game._world, game.player
        assert np.array_equal(ours["material"], world.materials)
        assert self.objects() == [_describe(obj) for obj in world.objects]
        assert self._chunks() == [
            (chunk, [tuple(map(int, obj.pos)) for obj in members]) for chunk, members in world.chunks.items()
        ]
        for name in ("hunger", "thirst", "fatigue", "recover", "last_health"):
            assert ours[name] == getattr(player, f"_{name}"), name
        _, key, used = world.random.get_state()[:3]
        assert ours["random_used"] == used and np.array_equal(ours["random_key"], key)

    def objects(self) -> list[tuple]:
        """(kind, x, y, health, timer, facing) of our living objects, in order of birth."""
        world = self.fast.world[0]
        slots = PLAYER + np.flatnonzero(world["alive"][PLAYER : world["num_slots"]])
        columns = (world[name][slots].tolist() for name in ("kind", "x", "y", "health", "timer", "facing"))
        return [
            (
                KINDS[kind],
                (x, y),
                int(self.fast.inventory[0]) if kind == 0 else health,
                timer,
                FACINGS[facing] if kind in (0, 4) else None,
            )
            for kind, x, y, health, timer, facing in zip(*columns, strict=True)
        ]

    def _chunks(self) -> list[tuple]:
        world = self.fast.world[0]
        slots = PLAYER + np.flatnonzero(world["alive"][PLAYER : world["num_slots"]])
        slots = slots[np.argsort(world["arrival"][slots])]
        places = list(zip(world["x"][slots].tolist(), world["y"][slots].tolist(), strict=True))
        chunks: dict[tuple, list] = {}
        for chunk in world["chunk_order"][: world["num_chunks"]].tolist():
            left, top = chunk // 6 * 12, chunk % 6 * 12
            chunks[left, min(left + 12, WORLD_SIZE), top, min(top + 12, WORLD_SIZE)] = []
        for x, y in places:
            left, top = x // 12 * 12, y // 12 * 12
            chunks[left, min(left + 12, WORLD_SIZE), top, min(top + 12, WORLD_SIZE)].append((x, y))
        return list(chunks.items())


def _describe(obj) -> tuple:
    facing = tuple(map(int, obj.facing)) if isinstance(obj, objects.Player | objects.Arrow) else None
    timer = getattr(obj, TIMERS[type(obj)]) if type(obj) in TIMERS else 0
    return type(obj), tuple(map(int, obj.pos)), int(obj.health), timer, facing


class Explorer:
    """A player who sees the whole map: walks to what it wants, uses it, and now and then does anything at all."""

    def __init__(self, pair: Pair, policy: str, seed: int):
        self.pair, self.policy = pair, policy
        self.rng = np.random.default_rng(seed)
        self.plan: deque[int] = deque()

    def action(self) -> int:
        if self.policy == "random" or self.rng.random() < 0.05:
            return int(self.rng.integers(NUM_ACTIONS))
        if not self.plan:
            self.plan.extend(getattr(self, f"_plan_{self.policy}")())
        return self.plan.popleft() if self.plan else int(self.rng.integers(NUM_ACTIONS))

    def _plan_seeker(self) -> Iterator[int]:
        target = self.rng.choice([*MATERIALS[1:], "Cow", "Zombie", "Skeleton"])
        yield from self._walk_to(str(target))
        yield from [ACTIONS.index("do")] * int(self.rng.integers(1, 6))
        yield from self.rng.integers(ACTIONS.index("sleep"), NUM_ACTIONS, 4).tolist()

    def _plan_sleeper(self) -> Iterator[int]:
        yield from [ACTIONS.index("sleep")] * int(self.rng.integers(1, 150))
        yield from self.rng.integers(0, ACTIONS.index("do"), 20).tolist()

    def _plan_farmer(self) -> Iterator[int]:
        """Plant a sapling, wall it in from where it is safe, wait until it is ripe and eat it."""
        if not self._facing("grass"):
            yield from self._walk_to("grass")
        yield ACTIONS.index("place_plant")
        yield from [ACTIONS.index("noop")] * int(self.rng.choice([5, 302]))
        yield from [ACTIONS.index("do")] * 2
        yield from self.rng.integers(1, 5, 6).tolist()

    def _plan_archer(self) -> Iterator[int]:
        """Stay near skeletons, with tables and plants as targets of their arrows."""
        yield from self._walk_to("Skeleton")
        yield from self.rng.choice([0, 5, 7, 8, 9], 6).tolist()

    def _facing(self, material: str) -> bool:
        world = self.pair.fast.world[0]
        dx, dy = FACINGS[self.pair.fast.facing]
        x, y = int(self.pair.fast.position[0]) + dx, int(self.pair.fast.position[1]) + dy
        inside = 0 <= x < WORLD_SIZE and 0 <= y < WORLD_SIZE
        return inside and world["material"][x, y] == MATERIAL_IDS[material] and not world["occupant"][x, y]

    def _goal_cells(self, target: str) -> set[tuple[int, int]]:
        if target in MATERIAL_IDS:
            cells = np.argwhere(self.pair.fast.world[0]["material"] == MATERIAL_IDS[target])
            return {(x, y) for x, y in cells.tolist()}
        return {pos for kind, pos, *_ in self.pair.objects() if kind.__name__ == target}

    def _walk_to(self, target: str, limit: int = 600) -> list[int]:
        """Moves along a shortest way to a cell next to the target, and a last one that faces it; [] if there is none near."""
        goals = self._goal_cells(target)
        material = self.pair.fast.world[0]["material"]
        occupant = self.pair.fast.world[0]["occupant"]
        start = tuple(self.pair.fast.position.tolist())
        came: dict[tuple, tuple] = {start: ()}
        queue = deque([start])
        while queue and len(came) < limit:
            x, y = queue.popleft()
            for direction, (dx, dy) in enumerate(FACINGS):
                cell = (x + dx, y + dy)
                if not (0 <= cell[0] < WORLD_SIZE and 0 <= cell[1] < WORLD_SIZE) or cell in came:
                    continue
                if cell in goals:
                    return [*came[x, y], 1 + direction]
                if (WALKABLE >> int(material[cell])) & 1 and not occupant[cell]:
                    came[cell] = (*came[x, y], 1 + direction)
                    queue.append(cell)
        return []


def play(seed: int, policy: str, steps: int, immortal: bool, late: bool, reached: Counter) -> int:
    """Play one world in lock step; returns the steps played and counts achievements and causes of death."""
    pair = Pair()
    pair.reset(seed)
    explorer = Explorer(pair, policy, seed)
    if late:
        pair.give(**{name: int(explorer.rng.integers(0, 10)) for name in ITEMS[4:]})
    if policy == "farmer":
        pair.give(sapling=9)
    for step in range(steps):
        pair.step(explorer.action())
        if immortal and pair.fast.inventory[:4].min() < 3 and not pair.fast.dead:
            pair.give(**{name: 9 for name in ITEMS[: 3 + (policy != "sleeper")]})
        if pair.fast.dead:
            break
    reached.update({name: int(n) for name, n in zip(ACHIEVEMENTS, pair.fast.achievements, strict=True)})
    reached[pair.fast.death_cause] += 1
    return step + 1


@pytest.mark.parametrize("policy", POLICIES)
def test_plays_the_package_s_game(policy: str) -> None:
    for seed in range(2):
        play(seed, policy, 250, immortal=True, late=seed % 2 == 0, reached=Counter())


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_campaign_of_lock_step() -> None:
    reached: Counter = Counter()
    steps = 0
    for world in range(250):
        policy = POLICIES[world % len(POLICIES)]
        immortal, late = world % 3 > 0, world // 5 % 2 == 0
        steps += play(1_000_003 * world % (2**31 - 1), policy, 1000, immortal, late, reached)
    print(steps, dict(reached))
    assert all(reached[name] for name in ACHIEVEMENTS)
