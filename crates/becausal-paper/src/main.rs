//! The paper's tables, curves and figures, measured anew.

fn main() {}
