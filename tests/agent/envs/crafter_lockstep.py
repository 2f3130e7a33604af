"""Plays two Crafter engines side by side: `Pair` compares their whole states, `Explorer` chooses the
actions."""

from collections import deque
from collections.abc import Iterable, Iterator

import numpy as np
from crafter import objects

from agent.envs.crafter.engine import ACTIONS, FACINGS, ITEMS, NUM_ACTIONS, WORLD_SIZE
from agent.envs.crafter.fast import FastEngine
from agent.envs.crafter.fast_world import CHUNK_SIZE, CHUNKS_PER_SIDE, PLAYER, WALKABLE
from agent.envs.crafter.package import PackageEngine
from agent.envs.crafter.textures import MATERIAL_IDS, MATERIALS

KINDS = (objects.Player, objects.Cow, objects.Zombie, objects.Skeleton, objects.Arrow, objects.Plant)
TIMERS = {objects.Zombie: "cooldown", objects.Skeleton: "reload", objects.Plant: "grown"}
NEEDS = ITEMS[:4]
POLICIES = ("random", "seeker", "sleeper", "farmer", "archer", "smith", "wanderer")


class Pair:
    """The compiled engine and the package's, fed the same actions and compared after every step."""

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

    def fence_in(self, x: int, y: int) -> None:
        """Put stone on every free neighbour of a cell, in both worlds."""
        for dx, dy in FACINGS:
            cell = (x + dx, y + dy)
            if min(cell) >= 0 and max(cell) < WORLD_SIZE and not self.fast.world[0]["occupant"][cell]:
                ground = self.fast.world[0]["ground"][_chunk(*cell)]
                ground[self.fast.world[0]["material"][cell]] -= 1
                ground[MATERIAL_IDS["stone"]] += 1
                self.fast.world[0]["material"][cell] = MATERIAL_IDS["stone"]
                self.package._game._world[cell] = "stone"

    def compare(self) -> None:
        """Everything an observer sees, then everything that decides how the game goes on."""
        for name in ("view", "inventory", "position", "achievements"):
            ours, theirs = getattr(self.fast, name), getattr(self.package, name)
            assert ours.dtype == theirs.dtype and np.array_equal(ours, theirs), name
        for name in ("facing", "daylight", "dead", "death_cause", "sleeping"):
            ours, theirs = getattr(self.fast, name), getattr(self.package, name)
            assert type(ours) is type(theirs) and ours == theirs, name
        ours, game = self.fast.world[0], self.package._game
        world, player = game._world, game.player
        assert np.array_equal(ours["material"], world.materials)
        assert self.objects() == [_describe(obj) for obj in world.objects]
        assert self._chunks() == [
            (*chunk[::2], [tuple(map(int, obj.pos)) for obj in members]) for chunk, members in world.chunks.items()
        ]
        for name in ("hunger", "thirst", "fatigue", "recover", "last_health"):
            assert ours[name] == getattr(player, f"_{name}"), name
        _, key, used = world.random.get_state()[:3]
        assert ours["random_used"] == used and np.array_equal(ours["random_key"], key)

    def objects(self) -> list[tuple]:
        """(class, place, health, timer, facing) of our living objects, in order of birth."""
        world, slots = self.fast.world[0], self._living()
        columns = (world[name][slots].tolist() for name in ("kind", "x", "y", "health", "timer", "facing"))
        found = []
        for kind, x, y, health, timer, facing in zip(*columns, strict=True):
            cls = KINDS[kind]
            health = int(self.fast.inventory[0]) if cls is objects.Player else health
            turned = FACINGS[facing] if cls in (objects.Player, objects.Arrow) else None
            found.append((cls, (x, y), health, timer, turned))
        return found

    def _living(self) -> np.ndarray:
        world = self.fast.world[0]
        return PLAYER + np.flatnonzero(world["alive"][PLAYER : world["num_slots"]])

    def _chunks(self) -> list[tuple]:
        """(left, top, places of its objects) of each chunk, both in the order in which the game walks through
        them."""
        world, slots = self.fast.world[0], self._living()
        slots = slots[np.argsort(world["arrival"][slots])]
        members: dict[int, list] = {n: [] for n in world["chunk_order"][: world["num_chunks"]].tolist()}
        for x, y in zip(world["x"][slots].tolist(), world["y"][slots].tolist(), strict=True):
            members[_chunk(x, y)].append((x, y))
        return [
            (n // CHUNKS_PER_SIDE * CHUNK_SIZE, n % CHUNKS_PER_SIDE * CHUNK_SIZE, places)
            for n, places in members.items()
        ]


def _chunk(x: int, y: int) -> int:
    return x // CHUNK_SIZE * CHUNKS_PER_SIDE + y // CHUNK_SIZE


def _describe(obj) -> tuple:
    facing = tuple(map(int, obj.facing)) if isinstance(obj, objects.Player | objects.Arrow) else None
    timer = getattr(obj, TIMERS[type(obj)]) if type(obj) in TIMERS else 0
    return type(obj), tuple(map(int, obj.pos)), int(obj.health), timer, facing


class Explorer:
    """A player who sees the whole map and follows plans of a policy, with some actions at random in
    between."""

    def __init__(self, pair: Pair, policy: str, seed: int):
        self.pair, self.policy = pair, policy
        self.rng = np.random.default_rng(seed)
        self.noise = {"random": 1.0, "farmer": 0.0}.get(policy, 0.05)
        self.plan: deque[int] = deque()

    def action(self) -> int:
        if self.rng.random() < self.noise:
            return int(self.rng.integers(NUM_ACTIONS))
        if not self.plan:
            self.plan.extend(getattr(self, f"_plan_{self.policy}")())
        return self.plan.popleft() if self.plan else int(self.rng.integers(NUM_ACTIONS))

    def _some(self, names: Iterable[str], most: int) -> list[int]:
        """Up to `most` of these actions at random."""
        numbers = [ACTIONS.index(name) for name in names]
        return self.rng.choice(numbers, int(self.rng.integers(1, most + 1))).tolist()

    def _plan_seeker(self) -> Iterator[int]:
        """Walk to anything, use it, then place or make something."""
        yield from self._walk_to(str(self.rng.choice([*MATERIALS[1:], "Cow", "Zombie", "Skeleton"])))
        yield from self._some(["do"], 6)
        yield from self._some(ACTIONS[6:], 4)

    def _plan_sleeper(self) -> Iterator[int]:
        yield from self._some(["sleep"], 150)
        yield from self._some(ACTIONS[:5], 20)

    def _plan_farmer(self) -> Iterator[int]:
        """Plant a sapling, wait for it to ripen, or not quite, and eat it."""
        yield from self._walk_to("grass")
        yield ACTIONS.index("place_plant")
        yield from [ACTIONS.index("noop")] * int(self.rng.choice([5, 299, 302]))
        yield from self._some(["do"], 3)
        yield from self._some(ACTIONS[1:5], 6)

    def _plan_archer(self) -> Iterator[int]:
        """Stay near skeletons, with stones and tables and furnaces in the way of their arrows."""
        yield from self._walk_to("Skeleton")
        yield from self._some(["noop", "do", "place_stone", "place_table", "place_furnace"], 6)

    def _plan_smith(self) -> Iterator[int]:
        """Put up a workshop, make everything, and use it on ore."""
        for thing in ("place_table", "place_furnace"):
            yield from self._some(ACTIONS[1:5], 2)
            yield ACTIONS.index(thing)
        yield from self._some(ACTIONS[11:], 12)
        yield from self._walk_to(str(self.rng.choice(["stone", "coal", "iron", "diamond"])))
        yield from self._some(["do"], 2)

    def _plan_wanderer(self) -> Iterator[int]:
        """Go straight on, through stone and over water and lava, up to the border, and work there."""
        direction = int(self.rng.integers(1, 5))
        for _ in range(int(self.rng.integers(5, 45))):
            yield from (direction, ACTIONS.index("do"), ACTIONS.index("place_stone"), ACTIONS.index("do"))
        yield ACTIONS.index("place_table")
        yield from self._some(ACTIONS[11:], 6)

    def _targets(self, target: str) -> set[tuple[int, int]]:
        if target in MATERIAL_IDS:
            cells = np.argwhere(self.pair.fast.world[0]["material"] == MATERIAL_IDS[target])
            return {(x, y) for x, y in cells.tolist()}
        return {place for cls, place, *_ in self.pair.objects() if cls.__name__ == target}

    def _walk_to(self, target: str, limit: int = 600) -> list[int]:
        """Moves of a shortest way to face a target (a material or class); none if none is among the nearest
        cells."""
        targets = self._targets(target)
        material, occupant = (self.pair.fast.world[0][name] for name in ("material", "occupant"))
        start = tuple(self.pair.fast.position.tolist())
        ways: dict[tuple, tuple] = {start: ()}
        queue = deque([start])
        while queue and len(ways) < limit:
            here = queue.popleft()
            for direction, (dx, dy) in enumerate(FACINGS):
                cell = (here[0] + dx, here[1] + dy)
                if cell in ways or not (0 <= cell[0] < WORLD_SIZE and 0 <= cell[1] < WORLD_SIZE):
                    continue
                if cell in targets:
                    return [*ways[here], 1 + direction]
                if (int(WALKABLE) >> int(material[cell])) & 1 and not occupant[cell]:
                    ways[cell] = (*ways[here], 1 + direction)
                    queue.append(cell)
        return []


def play(pair: Pair, seed: int, policy: str, num_steps: int, *, immortal: bool, rich: bool) -> int:
    """Play one world in lock step to its end or for `num_steps`; returns the number of steps played.

    An immortal player is healed and fed between steps, and a farmer's plants are fenced in; a rich player starts
    with items of every kind.
    """
    pair.reset(seed)
    explorer = Explorer(pair, policy, seed)
    if rich:
        pair.give(**{name: int(explorer.rng.integers(0, 10)) for name in ITEMS[len(NEEDS) :]})
    for step in range(num_steps):
        if immortal and not pair.fast.dead:
            _provide(pair, policy)
        pair.step(explorer.action())
        if pair.fast.dead:
            return step + 1
    return num_steps


def _provide(pair: Pair, policy: str) -> None:
    if pair.fast.inventory[0] < 8:
        pair.give(health=9)
    if pair.fast.inventory[1:4].min() < 3:
        pair.give(food=9, drink=9, energy=9 if policy != "sleeper" else 3)
    if policy == "farmer" and pair.fast.inventory[ITEMS.index("sapling")] == 0:
        pair.give(sapling=3)
    if policy == "farmer":
        for cls, place, *_ in pair.objects():
            if cls is objects.Plant:
                pair.fence_in(*place)
    if policy == "smith" and pair.fast.num_steps % 100 == 0:
        pair.give(wood=9, stone=9, coal=9, iron=9)
    if policy == "wanderer" and pair.fast.num_steps % 100 == 0:
        pair.give(wood=9, stone=9, wood_pickaxe=1, stone_pickaxe=1, iron_pickaxe=1)
