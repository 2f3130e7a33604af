"""The rollouts of a run as a Minari dataset, under the id and in the folder that people expect."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from amago_cli.output import count, remark
from store.errors import AmagoError, StorageError

if TYPE_CHECKING:
    from store.layout import RunPaths, Split


def export_dataset(paths: RunPaths, split: Split, root: Path | None, name: str | None) -> None:
    """Write the dataset, and say where it is and how it is opened."""
    dataset_id, folder, episodes = export(paths, split, root, name)
    remark(f"wrote {count(episodes, 'episode')} to {folder}")
    print(f'next: minari.load_dataset("{dataset_id}")' + _looking_elsewhere(root))


def _looking_elsewhere(root: Path | None) -> str:
    return "" if root is None else f", with MINARI_DATASETS_PATH={shlex.quote(str(root.resolve()))}"


def export(paths: RunPaths, split: Split, root: Path | None, name: str | None) -> tuple[str, Path, int]:
    """Write a split of a run into the datasets folder `root`, else into Minari's own; its id, folder and episodes.

    The id is "amago/<environment>/<run>-v0" unless `name` says another. AmagoError when there is nothing to export or
    a dataset of that id, StorageError when a shard is damaged or the disk refuses.
    """
    from agent.contents import spec_from_json
    from agent.goals.vocabularies import vocabulary
    from store.minari import dataset_id_of, datasets_root
    from store.minari_export import export_minari
    from store.rollouts import RolloutReader

    reader = RolloutReader(paths.rollouts(split))
    if not len(reader.index()):
        raise AmagoError(f"run {paths.name} has no stored rollouts of the split {split!r}")
    spec = spec_from_json(reader.spec(0))

    def describe(goals: Sequence[int]) -> str:
        try:
            return vocabulary(spec.vocabulary).describe(goals)
        except IndexError:
            raise StorageError(f"run {paths.name} is damaged: it names goals that {spec.name} does not know") from None

    dataset_id = name or dataset_id_of(spec.name, paths.name)
    folder, episodes = export_minari(paths, split, root or datasets_root(), dataset_id, describe)
    return dataset_id, folder, episodes
