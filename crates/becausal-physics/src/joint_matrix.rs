//! The symmetric 3 by 3 matrix of a joint, solved by determinants.

use crate::vector::Vector;

/// How the velocities at a joint respond to its impulses, two at the point and one about it, with
/// the values that every iteration needs.
#[derive(Clone, Debug)]
pub(crate) struct JointMatrix {
    k11: f32,
    k12: f32,
    k13: f32,
    k22: f32,
    k23: f32,
    k33: f32,
    /// The cross product of the second and the third column.
    cofactors: [f32; 3],
    inverse_determinant: f32,
    inverse_point_determinant: f32,
}

impl JointMatrix {
    /// The matrix of a joint with these arms, inverse masses and inverse inertias of both bodies.
    pub fn new(arms: [Vector; 2], masses: [f32; 2], inertias: [f32; 2]) -> Self {
        let [a, b] = arms;
        let [i, j] = inertias;
        let mass = masses[0] + masses[1];
        let k11 = mass + a.y * a.y * i + b.y * b.y * j;
        let k12 = -a.y * a.x * i - b.y * b.x * j;
        let k13 = -a.y * i - b.y * j;
        let k22 = mass + a.x * a.x * i + b.x * b.x * j;
        let k23 = a.x * i + b.x * j;
        let k33 = i + j;
        let cofactors = [k22 * k33 - k23 * k23, k23 * k13 - k12 * k33, k12 * k23 - k22 * k13];
        let determinant = k11 * cofactors[0] + k12 * cofactors[1] + k13 * cofactors[2];
        let point_determinant = k11 * k22 - k12 * k12;
        let inverse = |value: f32| if value == 0.0 { value } else { 1.0 / value };
        Self {
            k11,
            k12,
            k13,
            k22,
            k23,
            k33,
            cofactors,
            inverse_determinant: inverse(determinant),
            inverse_point_determinant: inverse(point_determinant),
        }
    }

    /// The entries that couple the point with the angle.
    #[inline]
    pub fn mixed(&self) -> Vector {
        Vector::new(self.k13, self.k23)
    }

    /// The solution for the point alone.
    #[inline]
    pub fn solve_point(&self, right: Vector) -> Vector {
        Vector::new(
            self.inverse_point_determinant * (self.k22 * right.x - self.k12 * right.y),
            self.inverse_point_determinant * (self.k11 * right.y - self.k12 * right.x),
        )
    }

    /// The linear part of the solution of all three.
    #[inline]
    pub fn solve_linear(&self, right: Vector, third: f32) -> Vector {
        let [c1, c2, c3] = self.cofactors;
        let x = right.x * c1 + right.y * c2 + third * c3;
        let y = self.k11 * (right.y * self.k33 - third * self.k23)
            + self.k12 * (third * self.k13 - right.x * self.k33)
            + self.k13 * (right.x * self.k23 - right.y * self.k13);
        Vector::new(self.inverse_determinant * x, self.inverse_determinant * y)
    }

    /// The angular part of the solution of all three.
    #[inline]
    pub fn solve_angular(&self, right: Vector, third: f32) -> f32 {
        let z = self.k11 * (self.k22 * third - self.k23 * right.y)
            + self.k12 * (self.k23 * right.x - self.k12 * third)
            + self.k13 * (self.k12 * right.y - self.k22 * right.x);
        self.inverse_determinant * z
    }
}
