"""Time Gymnasium's environments and print how many times faster ours are.

Called by compare-gymnasium.sh with our figures as JSON and the ids to compare.
"""
import json
import sys
import time

import gymnasium


def steps_per_second(identifier, repeats=3, count=50_000):
    """The best of several runs of random actions with resets, in process, without rendering."""
    environment = gymnasium.make(identifier)
    environment.action_space.seed(0)
    actions = [environment.action_space.sample() for _ in range(count)]
    best = 0.0
    for _ in range(repeats):
        environment.reset(seed=0)
        started = time.perf_counter()
        for action in actions:
            _, _, terminated, truncated, _ = environment.step(action)
            if terminated or truncated:
                environment.reset()
        best = max(best, count / (time.perf_counter() - started))
    return best


def main():
    ours = json.loads(sys.argv[1])
    print(f"{'environment':26} {'becausal':>12} {'Gymnasium':>12} {'ratio':>8}   (steps per second, one core)")
    for identifier in sys.argv[2:]:
        mine = ours[identifier]["steps_per_s"]
        theirs = steps_per_second(identifier)
        print(f"{identifier:26} {mine:12,.0f} {theirs:12,.0f} {mine / theirs:8.1f}")


if __name__ == "__main__":
    main()
