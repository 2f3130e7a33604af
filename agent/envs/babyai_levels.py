"""The 68 levels of BabyAI (Chevalier-Boisvert et al. 2019) that AMAGO-2 plays, and the words of their missions.

Minigrid has 96. Left out are those that put something next to something else or join two missions, but for the red and
the blue door, and the levels Synth, MoveTwoAcross and Boss. Which ones are kept for evaluations is the draw that came
with the paper's programs.
"""

TRAINING: dict[str, int] = {
    "GoToRedBall": 64,
    "GoToRedBallNoDists": 64,
    "GoToObjS6": 36,
    "GoToLocal": 64,
    "GoToLocalS7N5": 49,
    "GoToLocalS8N4": 64,
    "GoToLocalS8N5": 64,
    "GoToLocalS8N6": 64,
    "GoTo": 576,
    "GoToOpen": 576,
    "GoToObjMaze": 576,
    "GoToObjMazeOpen": 576,
    "GoToObjMazeS4R2": 64,
    "GoToObjMazeS4": 144,
    "GoToObjMazeS5": 225,
    "GoToObjMazeS6": 324,
    "GoToImpUnlock": 576,
    "GoToRedBlueBall": 64,
    "GoToDoor": 441,
    "GoToObjDoor": 576,
    "Open": 576,
    "OpenRedDoor": 50,
    "OpenDoor": 576,
    "OpenDoorDebug": 576,
    "OpenDoorColor": 576,
    "OpenRedBlueDoors": 720,
    "Pickup": 576,
    "UnblockPickup": 576,
    "PickupLoc": 64,
    "PickupDist": 49,
    "PickupDistDebug": 49,
    "PickupAbove": 288,
    "Unlock": 576,
    "UnlockLocal": 576,
    "KeyInBox": 576,
    "UnlockPickup": 72,
    "BlockedUnlockPickup": 576,
    "UnlockToUnlock": 1080,
    "FindObjS6": 720,
    "FindObjS7": 980,
    "KeyCorridor": 1080,
    "KeyCorridorS3R1": 270,
    "KeyCorridorS3R2": 270,
    "KeyCorridorS3R3": 270,
    "KeyCorridorS4R3": 480,
    "KeyCorridorS5R3": 750,
    "OneRoomS8": 64,
    "OneRoomS12": 144,
    "OneRoomS16": 256,
    "OneRoomS20": 400,
}
"""By name without "BabyAI-" and version: the steps that an attempt may take."""

HELD_OUT: dict[str, int] = {
    "GoToRedBallGrey": 64,
    "GoToObj": 64,
    "GoToObjS4": 16,
    "GoToLocalS5N2": 25,
    "GoToLocalS6N2": 36,
    "GoToLocalS6N3": 36,
    "GoToLocalS6N4": 36,
    "GoToLocalS7N4": 49,
    "GoToLocalS8N2": 64,
    "GoToLocalS8N3": 64,
    "GoToLocalS8N7": 64,
    "GoToObjMazeS7": 441,
    "OpenDoorLoc": 576,
    "UnlockLocalDist": 576,
    "UnlockPickupDist": 72,
    "ActionObjDoor": 441,
    "FindObjS5": 500,
    "KeyCorridorS6R3": 1080,
}

WORDS = (
    *("a", "the", "go", "to", "pick", "up", "open", "then", ","),
    *("object", "ball", "box", "key", "door"),
    *("blue", "green", "grey", "purple", "red", "yellow"),
    *("in", "front", "of", "behind", "on", "your", "left", "right", "you"),
)
"""All that missions are made of."""

MAX_WORDS = 10
"""Of a mission: "open the red door , then open the blue door"."""
