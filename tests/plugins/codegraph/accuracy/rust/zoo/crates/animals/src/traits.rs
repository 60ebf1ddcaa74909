use crate::food::{Food, Meal};

/// Something with a name.
pub trait Named {
    fn name(&self) -> String;

    fn shout(&self) -> String {
        self.name().to_uppercase()
    }
}

/// Something that lives.
pub trait Animal: Named {
    const LEGS: u32;

    fn speak(&self) -> String;

    fn eat(&mut self, food: &Food) -> Result<Meal, Hunger> {
        let meal = food.serve(1)?;
        self.digest(&meal);
        Ok(meal)
    }

    fn digest(&mut self, _meal: &Meal) {}

    fn create(name: &str) -> Self
    where
        Self: Sized;
}

#[derive(Debug, Clone, Default)]
pub struct Hunger {
    pub since: u32,
}

impl Hunger {
    pub fn of(since: u32) -> Self {
        Hunger { since }
    }

    pub fn grow(&self) -> Hunger {
        Self::of(self.since + 1)
    }
}

impl std::fmt::Display for Hunger {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "hungry for {}", self.grow().since)
    }
}
