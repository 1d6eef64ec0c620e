//! Points and areas, in units of a picture: 1 is a pixel at scale 1, y grows downwards.

/// A point in a picture.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// Distance from the left edge.
    pub x: f64,
    /// Distance from the upper edge.
    pub y: f64,
}

impl Point {
    /// The point at `x`, `y`.
    #[must_use]
    pub fn new(x: f64, y: f64) -> Self {
        Self { x, y }
    }
}

/// An axis-aligned rectangle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Area {
    /// The left edge.
    pub left: f64,
    /// The upper edge.
    pub top: f64,
    /// The width.
    pub width: f64,
    /// The height.
    pub height: f64,
}

impl Area {
    /// The area of this size around a point.
    #[must_use]
    pub fn around(centre: Point, width: f64, height: f64) -> Self {
        Self { left: centre.x - width / 2.0, top: centre.y - height / 2.0, width, height }
    }

    /// The right edge.
    #[must_use]
    pub fn right(&self) -> f64 {
        self.left + self.width
    }

    /// The lower edge.
    #[must_use]
    pub fn bottom(&self) -> f64 {
        self.top + self.height
    }

    /// The point in the middle.
    #[must_use]
    pub fn centre(&self) -> Point {
        Point::new(self.left + self.width / 2.0, self.top + self.height / 2.0)
    }

    /// Whether the two areas share more than an edge.
    #[must_use]
    pub fn overlaps(&self, other: &Self) -> bool {
        self.left < other.right()
            && other.left < self.right()
            && self.top < other.bottom()
            && other.top < self.bottom()
    }

    /// Whether `other` lies completely inside this area.
    #[must_use]
    pub fn contains(&self, other: &Self) -> bool {
        self.left <= other.left
            && self.top <= other.top
            && self.right() >= other.right()
            && self.bottom() >= other.bottom()
    }

    /// Whether the point lies inside this area.
    #[must_use]
    pub fn holds(&self, point: Point) -> bool {
        point.x >= self.left
            && point.x <= self.right()
            && point.y >= self.top
            && point.y <= self.bottom()
    }
}

/// A cubic curve from `start` to `end`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cubic {
    /// The start.
    pub start: Point,
    /// The first control point.
    pub first: Point,
    /// The second control point.
    pub second: Point,
    /// The end.
    pub end: Point,
}

impl Cubic {
    /// The curve to the right that leaves and arrives horizontally.
    #[must_use]
    pub fn horizontal(start: Point, end: Point) -> Self {
        let middle = f64::midpoint(start.x, end.x);
        Self { start, first: Point::new(middle, start.y), second: Point::new(middle, end.y), end }
    }

    /// The point at `share` (0 to 1) of the curve's parameter.
    #[must_use]
    pub fn at(&self, share: f64) -> Point {
        let rest = 1.0 - share;
        let factors = [
            rest * rest * rest,
            3.0 * rest * rest * share,
            3.0 * rest * share * share,
            share * share * share,
        ];
        let points = [self.start, self.first, self.second, self.end];
        let sum = |of: fn(&Point) -> f64| factors.iter().zip(&points).map(|(f, p)| f * of(p)).sum();
        Point::new(sum(|p| p.x), sum(|p| p.y))
    }
}
