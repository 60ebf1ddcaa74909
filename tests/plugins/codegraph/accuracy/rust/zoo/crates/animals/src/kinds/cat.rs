use super::super::traits::{Animal, Named};
use crate::food::Meal;
use crate::util::deep;

#[derive(Debug)]
pub struct Cat {
    name: String,
    lives: Lives,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Lives {
    Nine,
    Left(u8),
    Lost { at: u8, last: Moment },
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Moment(u8);

impl Moment {
    fn tick(self) -> Moment {
        Moment(self.0 + 1)
    }
}

impl Lives {
    fn less(self) -> Lives {
        match self {
            Lives::Nine => Self::Left(8),
            Lives::Left(n) if n > 0 => Lives::Left(minus(n)),
            Lives::Left(_) => Lives::Lost { at: 0, last: Moment(0) },
            Lives::Lost { at, last } => Lives::Lost { at: minus(at), last: last.tick() },
        }
    }
}

fn minus(n: u8) -> u8 {
    n.saturating_sub(1)
}

impl Cat {
    pub fn new(name: &str) -> Self {
        let name = name.to_string();
        Self { name, lives: Lives::Nine }
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn fall(mut self) -> Option<Self> {
        self.lives = self.lives.less();
        deep::twice(1.0);
        if self.lives == Lives::Nine.less() {
            None
        } else {
            Some(self)
        }
    }
}

impl Named for Cat {
    fn name(&self) -> String {
        Cat::name(self).to_owned()
    }
}

impl Animal for Cat {
    const LEGS: u32 = 4;

    fn speak(&self) -> String {
        "meow".into()
    }

    fn digest(&mut self, meal: &Meal) {
        let before = meal.size();
        let _ = before;
    }

    fn create(name: &str) -> Self {
        Cat::new(name)
    }
}
