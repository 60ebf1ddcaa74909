use crate::traits::*;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::{Arc, Mutex};

pub struct Dog {
    friend: Option<Box<Dog>>,
    bone: Rc<RefCell<Bone>>,
    shared: Arc<Mutex<Bone>>,
}

#[derive(Default)]
pub struct Bone {
    bites: u32,
}

impl Bone {
    fn bite(&mut self) -> u32 {
        self.bites += 1;
        self.count()
    }

    fn count(&self) -> u32 {
        self.bites
    }
}

impl Dog {
    pub fn play(&self) -> u32 {
        if let Some(friend) = &self.friend {
            friend.play();
        }
        let again = self.friend.as_ref().map(|f| f.bark()).unwrap_or_default();
        let n = self.bone.borrow_mut().bite() + self.shared.lock().unwrap().count();
        let closure = |d: &Dog| d.bark().len();
        closure(self);
        n + again.len() as u32
    }

    pub fn bark(&self) -> String {
        self.speak()
    }

    fn best(dogs: Vec<Dog>) -> Option<Dog> {
        dogs.into_iter().filter(|d| d.play() > 1).find(|d| d.friend.is_none())
    }
}

impl Named for Dog {
    fn name(&self) -> String {
        let dog = Dog::best(vec![]).unwrap_or_else(|| Dog::create("x"));
        dog.bark()
    }
}

impl Animal for Dog {
    const LEGS: u32 = 4;

    fn speak(&self) -> String {
        format!("{}!", self.shout())
    }

    fn create(_name: &str) -> Self {
        let bone = Bone::default();
        bone.count();
        Dog { friend: None, bone: Rc::new(RefCell::new(bone)), shared: Default::default() }
    }
}
