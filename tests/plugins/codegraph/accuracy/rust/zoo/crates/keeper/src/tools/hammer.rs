use super::{width, Tool};

#[derive(Default)]
pub struct Hammer {
    weight: u32,
}

impl Tool for Hammer {
    fn apply(&self, force: u32) {
        self.hit(force + width(1));
    }
}

impl Hammer {
    fn hit(&self, force: u32) {
        measure(force * self.weight);
    }
}

pub(super) fn measure(n: u32) -> u32 {
    crate::tools::code() as u32 + n
}
