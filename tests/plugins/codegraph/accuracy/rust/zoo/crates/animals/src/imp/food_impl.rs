use crate::traits::Hunger;
use std::collections::HashMap;

pub struct Food {
    amount: u32,
    parts: Vec<Part>,
    by_name: HashMap<String, Part>,
}

#[derive(Clone)]
pub struct Part {
    weight: u32,
}

impl Part {
    fn weight(&self) -> u32 {
        self.weight
    }

    fn heavier(&self, other: &Part) -> bool {
        self.weight() > other.weight()
    }
}

pub struct Meal(pub u32, Part);

impl Meal {
    pub fn size(&self) -> u32 {
        self.0 + self.1.weight()
    }
}

impl Food {
    pub fn new(amount: u32) -> Food {
        Food { amount, parts: vec![make(1), make(2)], by_name: HashMap::new() }
    }

    pub fn serve(&self, n: u32) -> Result<Meal, Hunger> {
        if self.amount < n {
            return Err(Hunger::of(n));
        }
        let part = self.heaviest().ok_or_else(|| Hunger::of(0))?;
        Ok(Meal(n, part.clone()))
    }

    fn heaviest(&self) -> Option<&Part> {
        let mut best = self.parts.first()?;
        for part in &self.parts {
            if part.heavier(best) {
                best = part;
            }
        }
        let total: u32 = self.parts.iter().map(|p| p.weight()).sum();
        for (name, part) in &self.by_name {
            println!("{} {} {}", name, part.weight(), total);
        }
        if let Some(found) = self.by_name.get("x") {
            found.heavier(best);
        }
        Some(best)
    }
}

fn make(weight: u32) -> Part {
    Part { weight }
}
