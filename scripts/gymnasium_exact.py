"""Count the steps of fresh Gymnasium episodes that `becausal replay` repeats bit for bit.

Called by check-gymnasium.sh with the program, the first seed and the number of seeds. Each seed is played
with random actions and with a controller; without a time limit, up to 1000 steps.
"""
import pathlib
import subprocess
import sys
import tempfile

import gymnasium
import numpy
from gymnasium.envs.box2d.lunar_lander import heuristic

# environment, Gymnasium's arguments
VARIANTS = [
    ("CartPole-v1", {}),
    ("LunarLander-v3", {}),
    ("LunarLander-v3", {"enable_wind": True}),
    ("LunarLander-v3", {"gravity": -4.5}),
    ("LunarLanderContinuous-v3", {}),
    ("LunarLanderContinuous-v3", {"enable_wind": True, "wind_power": 19.0, "turbulence_power": 1.9}),
]
STATES = {
    "CartPole-v1": ["position", "velocity", "angle", "angle_velocity"],
    "LunarLander-v3": ["x", "y", "vx", "vy", "angle", "v_angle", "legs"],
}
STATES["LunarLanderContinuous-v3"] = STATES["LunarLander-v3"]


def controller(environment, observation, step):
    if hasattr(environment, "lander"):
        return heuristic(environment, observation)
    return int(observation[2] + 0.3 * observation[3] > 0) if step % 50 else step // 50 % 2


def play(identifier, arguments, seed, skilled):
    """An episode: actions, observations (the first one included), rewards, and whether it ended."""
    environment = gymnasium.make(identifier, **arguments).unwrapped
    random = numpy.random.default_rng(seed)
    observation, _ = environment.reset(seed=seed)
    observations, actions, rewards, terminated = [observation], [], [], False
    while not terminated and len(actions) < 1000:
        if skilled:
            action = controller(environment, observation, len(actions))
        elif isinstance(environment.action_space, gymnasium.spaces.Discrete):
            action = random.integers(environment.action_space.n)
        else:
            action = random.uniform(-1, 1, 2)
        if not isinstance(environment.action_space, gymnasium.spaces.Discrete):
            action = numpy.clip(action, -1, 1).astype(numpy.float32)
        observation, reward, terminated, _, _ = environment.step(action)
        observations.append(observation)
        actions.append(action)
        rewards.append(float(reward))
    return numpy.array(actions), numpy.array(observations, numpy.float32), numpy.array(rewards), terminated


def replay(program, folder, identifier, arguments, seed, actions):
    """The same from `becausal replay`."""
    numpy.save(folder / "actions.npy", actions)
    command = [program, "replay", identifier, "--seed", str(seed), "--quiet"]
    command += ["--actions", folder / "actions.npy", "-o", folder / "out.npz"]
    for name, value in arguments.items():
        command += ["--env-option", f"{name}={value}"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    data = numpy.load(folder / "out.npz")
    rows = len(data["reward"])
    columns = lambda prime: numpy.concatenate(
        [data[name + prime].reshape(rows, -1).astype(float) for name in STATES[identifier]], 1)
    observations = numpy.concatenate([columns("")[:1], columns("'")])
    return observations, data["reward"], bool(data["terminated"][-1])


def main():
    program, first, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    print(f"{'environment':26} {'options':58} {'episodes':>8} {'steps':>8} {'identical':>9}")
    failed = False
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for identifier, arguments in VARIANTS:
            episodes = steps = identical = 0
            for seed in range(first, first + count):
                for skilled in (False, True):
                    actions, observations, rewards, terminated = play(identifier, arguments, seed, skilled)
                    ours, paid, ended = replay(program, folder, identifier, arguments, seed, actions)
                    episodes += 1
                    steps += len(actions)
                    # Bits are compared: 0.0 and -0.0 differ.
                    same_rows = len(ours) == len(observations) and ended == terminated
                    if same_rows and (ours == ours.astype(numpy.float32)).all():
                        same = (ours.astype(numpy.float32).view(numpy.uint32) == observations.view(numpy.uint32)).all(1)
                        same = same[1:] & same[0] & (paid.view(numpy.uint64) == rewards.view(numpy.uint64))
                        identical += int(same.sum())
            failed |= identical != steps
            print(f"{identifier:26} {str(arguments):58} {episodes:8} {steps:8} {identical:9}")
    sys.exit(failed)


if __name__ == "__main__":
    main()
