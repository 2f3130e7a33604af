"""The record of successes and the choice it makes, with numbers made by hand."""

import json

import numpy as np
import pytest

from agent.goals.record import CAUTION, MEMORY, SuccessRecord, choose_learnable
from agent.goals.vocabulary import goal_id, travel_goal

WOOD, TABLE, IRON = goal_id("collect wood"), goal_id("place table"), goal_id("collect iron")


def test_only_goals_whose_turn_came_count():
    record = SuccessRecord()
    record.add([WOOD, TABLE, IRON], 1)
    rates = record.rates()
    family_of_wood = (1 + CAUTION / 2) / (1 + CAUTION)
    assert rates[WOOD] == pytest.approx((1 + CAUTION * family_of_wood) / (1 + CAUTION))
    assert rates[IRON] == pytest.approx(family_of_wood)  # never its turn: what is known of its family
    family_of_table = (CAUTION / 2) / (1 + CAUTION)
    assert rates[TABLE] == pytest.approx(CAUTION * family_of_table / (1 + CAUTION))


def test_nothing_known_is_even_odds_and_old_outcomes_fade():
    record = SuccessRecord()
    assert record.rates() == pytest.approx(0.5)
    for _ in range(3 * MEMORY):
        record.add([WOOD], 0)
    low = record.rates()[WOOD]
    for _ in range(3 * MEMORY):
        record.add([WOOD], 1)
    assert low < 0.03 and record.rates()[WOOD] > 0.92


def test_places_to_go_to_share_their_record():
    record = SuccessRecord()
    here, there = travel_goal(20, 20), travel_goal(40, 40)
    assert here is not None and there is not None
    for _ in range(50):
        record.add([here], 1)
    assert record.rates()[there] > 0.8 and record.rates()[WOOD] == pytest.approx(0.5)


def test_a_record_goes_on_where_it_was():
    old, new = SuccessRecord(), SuccessRecord()
    old.add([WOOD, TABLE], 2)
    new.restore(json.loads(json.dumps(old.snapshot())))
    assert np.array_equal(new.rates(), old.rates())


def test_choices_are_in_proportion_to_the_variance_of_the_outcome():
    rates = np.full(200, 0.5)
    rates[[WOOD, TABLE, IRON]] = 0.9, 0.5, 0.01
    candidates = [(WOOD,), (WOOD, TABLE), (IRON,)]
    variances = np.array([0.9 * 0.1, 0.45 * 0.55, 0.01 * 0.99])
    rng = np.random.default_rng(0)
    drawn = [choose_learnable(candidates, rates, rng) for _ in range(4000)]
    shares = [drawn.count(candidate) / 4000 for candidate in candidates]
    assert shares == pytest.approx(variances / variances.sum(), abs=0.03)
