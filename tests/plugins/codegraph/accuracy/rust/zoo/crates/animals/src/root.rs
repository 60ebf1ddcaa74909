//! Animals of a zoo.

pub mod kinds;
#[path = "imp/food_impl.rs"]
pub mod food;
mod traits;
pub mod util {
    //! An inline module.
    pub fn round(x: f64) -> f64 {
        scale(x, 10)
    }

    fn scale(x: f64, by: u32) -> f64 {
        super::limit(x) * f64::from(by)
    }

    pub mod deep {
        use super::round;

        pub fn twice(x: f64) -> f64 {
            round(round(x)) + super::super::limit(x) + self::own()
        }

        fn own() -> f64 {
            crate::limit(1.0)
        }
    }
}

pub use kinds::{Cat, Dog as Hound};
pub use traits::*;

/// The largest number.
pub fn limit(x: f64) -> f64 {
    x.min(100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cat() -> Cat {
        Cat::new("tom")
    }

    #[test]
    fn cats_speak() {
        assert_eq!(cat().speak(), "meow");
        assert!(limit(1.0) < 2.0, "limit {}", util::round(2.0));
    }
}
