mod cat;
mod dog;
pub mod shape;

pub use self::cat::Cat;
pub use dog::Dog;

use crate::{limit, traits::Animal};

/// All that speak.
pub fn chorus(animals: &[Box<dyn Speaker>]) -> Vec<String> {
    animals.iter().map(|each| each.sound()).collect()
}

pub trait Speaker {
    fn sound(&self) -> String;
}

impl<T: Animal> Speaker for T {
    fn sound(&self) -> String {
        let _ = limit(f64::from(T::LEGS));
        self.speak()
    }
}

pub fn pair<A: Animal, B>(mut a: A, b: B) -> (A, B)
where
    B: Animal,
{
    a.speak();
    b.shout();
    let fresh = A::create("new");
    a = fresh;
    (a, b)
}

#[derive(Clone)]
pub struct Lion;

impl Lion {
    pub fn roar(&self) {}
}

pub fn lions() {
    let mut pen: shape::Cats = shape::Pen::new();
    pen.add(Lion).add(Lion.clone());
    pen.first().unwrap().roar();
    pen.each(|lion| lion.roar());
    for lion in pen {
        lion.roar();
    }
}
