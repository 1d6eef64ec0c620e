"""Record random worlds with box2d (pip install box2d==2.3.10) as a reference for the engine.

    python record_scenes.py FIRST_SEED SCENES STEPS OUT_FILE

tests/scenes.rs describes the format.
"""
import math
import random
import struct
import sys

import Box2D
from Box2D.b2 import edgeShape, fixtureDef, polygonShape, revoluteJointDef

EDGE, POLYGON, BOX = 0, 1, 2


def single(x):
    """The nearest 32-bit number."""
    return struct.unpack("<f", struct.pack("<f", x))[0]


def numbers(*values):
    return struct.pack(f"<{len(values)}f", *values)


class Scene:
    def __init__(self, seed):
        self.random = random.Random(seed)
        sideways = single(self.random.choice([0, 0, 0, self.random.uniform(-2, 2)]))
        self.gravity = (sideways, self.between(-12, -5))
        self.world = Box2D.b2World(gravity=self.gravity)
        self.bodies, self.moving, self.body_blobs, self.joint_blobs = [], [], [], []
        self.ground()
        for _ in range(self.random.randint(2, 8)):
            self.moving.append(len(self.bodies))
            shapes = [self.shape() for _ in range(self.random.choice([1, 1, 1, 2]))]
            self.body(False, (self.between(-5, 5), self.between(2, 8)), self.between(-3, 3), shapes)
        for _ in range(self.random.choice([0, 1, 2, 3])):
            self.joint()

    def between(self, low, high):
        return single(self.random.uniform(low, high))

    def body(self, static, position, angle, shapes):
        make = self.world.CreateStaticBody if static else self.world.CreateDynamicBody
        body = make(position=position, angle=angle)
        self.bodies.append(body)
        blob = struct.pack("<B", static) + numbers(*position, angle) + struct.pack("<I", len(shapes))
        for kind, points, density, friction, restitution, category, mask in shapes:
            if kind == EDGE:
                shape = edgeShape(vertices=points)
            elif kind == POLYGON:
                shape = polygonShape(vertices=points)
            else:
                shape = polygonShape(box=points[0])
            body.CreateFixture(fixtureDef(
                shape=shape, density=density, friction=friction, restitution=restitution,
                categoryBits=category, maskBits=mask))
            blob += struct.pack("<BI", kind, len(points))
            blob += b"".join(numbers(*point) for point in points)
            blob += numbers(density, friction, restitution) + struct.pack("<HH", category, mask)
        self.body_blobs.append(blob)

    def ground(self):
        corners = [(single(-12 + 4 * k), self.between(-1, 1)) for k in range(7)]
        position = (self.between(-0.5, 0.5), self.between(-0.5, 0.5))
        edges = [(EDGE, list(ends), 0.0, self.between(0, 1), self.between(0, 0.4), 1, 65535)
                 for ends in zip(corners, corners[1:])]
        self.body(True, position, 0.0, edges)
        if self.random.random() < 0.5:
            position = (self.between(-4, 4), self.between(1, 3))
            half = (self.between(0.3, 2), self.between(0.2, 0.6))
            box = (BOX, [half], 0.0, self.between(0, 1), 0.0, 1, 65535)
            self.body(True, position, self.between(-1, 1), [box])

    def shape(self):
        category = self.random.choice([1, 1, 1, 2])
        mask = self.random.choice([65535, 65535, 1, 3])
        density, friction = self.between(0.2, 4), self.between(0, 1)
        if self.random.random() < 0.5:
            bounce = self.between(0, 0.6) if self.random.random() < 0.3 else 0.0
            half = (self.between(0.1, 0.8), self.between(0.1, 0.8))
            return BOX, [half], density, friction, bounce, category, mask
        count = self.random.randint(3, 9)
        x, y = self.between(-0.3, 0.3), self.between(-0.3, 0.3)
        points = []
        for k in range(count):
            angle = 2 * math.pi * (k + self.random.uniform(-0.3, 0.3)) / count
            far = self.random.uniform(0.4, 0.9)
            points.append((single(x + far * math.cos(angle)), single(y + far * math.sin(angle))))
        self.random.shuffle(points)
        return POLYGON, points, density, friction, 0.0, category, mask

    def joint(self):
        choice = range(len(self.bodies)) if self.random.random() < 0.5 else self.moving
        first, second = self.random.sample(choice, 2)
        if first not in self.moving and second not in self.moving:
            return
        anchors = [(self.between(-1, 1), self.between(-1, 1)) for _ in range(2)]
        reference, lower = self.between(-1, 1), self.between(-1, 0.5)
        upper = single(lower + self.random.choice([0.0, 0.02, 0.4, 1.2]))
        speed, torque = self.between(-3, 3), self.between(0, 60)
        motor, limit, collide = (self.random.random() < p for p in (0.5, 0.6, 0.3))
        self.world.CreateJoint(revoluteJointDef(
            bodyA=self.bodies[first], bodyB=self.bodies[second], localAnchorA=anchors[0],
            localAnchorB=anchors[1], referenceAngle=reference, enableMotor=motor,
            enableLimit=limit, lowerAngle=lower, upperAngle=upper, motorSpeed=speed,
            maxMotorTorque=torque, collideConnected=collide))
        self.joint_blobs.append(
            struct.pack("<II", first, second)
            + numbers(*anchors[0], *anchors[1], reference, lower, upper, speed, torque)
            + struct.pack("<BBB", motor, limit, collide))

    def record(self, steps):
        iterations = self.random.choice([(8, 3), (10, 10), (60, 20), (180, 60)])
        seconds = single(self.random.choice([0.02, 0.02, 1 / 60, 1 / 30]))
        counts = struct.pack("<IIII", len(self.bodies), len(self.joint_blobs), *iterations)
        blob = numbers(*self.gravity) + counts + numbers(seconds)
        blob += b"".join(self.body_blobs + self.joint_blobs)
        kicks = [(self.random.randrange(steps), self.random.choice(self.moving),
                  self.between(-8, 8), self.between(-3, 12), self.between(-0.2, 0.2))
                 for _ in range(3)]
        for kick in kicks:
            blob += struct.pack("<IIfff", *kick)
        events, bodies = [], self.bodies

        class Listener(Box2D.b2ContactListener):
            def note(self, begins, contact):
                events.extend((begins, bodies.index(contact.fixtureA.body),
                               bodies.index(contact.fixtureB.body)))

            def BeginContact(self, contact):
                self.note(1, contact)

            def EndContact(self, contact):
                self.note(0, contact)

        listener = Listener()
        self.world.contactListener = listener
        for step in range(steps):
            for when, body, x, y, offset in kicks:
                if when == step:
                    place = bodies[body].position
                    bodies[body].ApplyLinearImpulse((x, y), (place[0] + offset, place[1]), True)
            events.clear()
            self.world.Step(seconds, *iterations)
            blob += struct.pack("<Q", self.hash(events))
        return blob

    def hash(self, events):
        words = []
        for body in self.bodies:
            blob = numbers(*body.position, body.angle, *body.linearVelocity, body.angularVelocity)
            words += [*struct.unpack("<6I", blob), int(body.awake)]
        value = 0xCBF29CE484222325
        for word in words + events:
            value = ((value ^ word) * 0x100000001B3) % 2**64
        return value


if __name__ == "__main__":
    first, scenes, steps = map(int, sys.argv[1:4])
    recording = struct.pack("<II", scenes, steps)
    recording += b"".join(Scene(seed).record(steps) for seed in range(first, first + scenes))
    with open(sys.argv[4], "wb") as file:
        file.write(recording)
