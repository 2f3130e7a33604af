"""The random stream of `numpy.random.RandomState` inside a compiled world: MT19937 and the two draws Crafter
makes.

Equal to numpy number by number, so that a world can be played in lock step with the published package. Knows
nothing of the game beyond the fields `random_key` and `random_used` of a world.
"""

from agent.envs.crafter.fast_jit import part
from agent.envs.crafter.fast_world import World

KEY_LENGTH = 624
_SHIFT = 397


@part
def seed_random(world: World, seed: int) -> None:
    """Start the stream of `RandomState(seed)`, 0 <= seed < 2**32."""
    key = world.random_key
    word = seed
    for i in range(KEY_LENGTH):
        key[i] = word
        word = (1812433253 * (word ^ (word >> 30)) + i + 1) & 0xFFFFFFFF
    world.random_used = KEY_LENGTH


@part
def _refill(world: World) -> None:
    key = world.random_key
    for i in range(KEY_LENGTH):
        word = (key[i] & 0x80000000) | (key[(i + 1) % KEY_LENGTH] & 0x7FFFFFFF)
        key[i] = key[(i + _SHIFT) % KEY_LENGTH] ^ (word >> 1) ^ (0x9908B0DF * (word & 1))
    world.random_used = 0


@part
def _next_word(world: World) -> int:
    """The next 32 random bits."""
    if world.random_used == KEY_LENGTH:
        _refill(world)
    word = world.random_key[world.random_used] | 0  # a signed 64-bit number from here on
    world.random_used += 1
    word ^= word >> 11
    word ^= (word << 7) & 0x9D2C5680
    word ^= (word << 15) & 0xEFC60000
    return word ^ (word >> 18)


@part
def uniform(world: World) -> float:
    """`RandomState.uniform()`: a number in [0, 1) with 53 random bits."""
    high = _next_word(world) >> 5
    low = _next_word(world) >> 6
    return (high * 67108864.0 + low) / 9007199254740992.0


@part
def below(world: World, n: int) -> int:
    """`RandomState.randint(0, n)` for 1 <= n <= 2**32: masked bits, drawn again while they are too large."""
    largest = n - 1
    if largest == 0:
        return 0
    mask = largest
    for shift in (1, 2, 4, 8, 16):
        mask |= mask >> shift
    number = _next_word(world) & mask
    while number > largest:
        number = _next_word(world) & mask
    return number
