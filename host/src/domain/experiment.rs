//! An experiment with the warnings of the bank's page: which share of the customers sees which variant.

/// What the page can show. How the variants differ is in `web/bank/warning-variants.js`.
pub const VARIANTS: [&str; 2] = ["why-first", "advice-first"];

/// Events name experiment and variant in their details.
pub const NAME_CHARS_MAX: usize = 40;

/// A variant's share of the customers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Portion {
    pub variant: String,
    pub percent: u8,
}

/// What the page calls an experiment that it does not know.
const UNKNOWN: &str = "none";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Experiment {
    /// Another name reassigns every customer and is counted separately.
    pub name: String,
    pub portions: Vec<Portion>,
}

impl Default for Experiment {
    /// Until an operator decides otherwise.
    fn default() -> Self {
        let portions = VARIANTS.map(|variant| Portion { variant: variant.to_owned(), percent: 50 });
        Self { name: "order-of-advice".to_owned(), portions: portions.into() }
    }
}

impl Experiment {
    /// With every variant of the page, in one order: it decides which customers see which.
    pub fn complete(name: String, portions: &[Portion]) -> Self {
        let percent = |variant| portions.iter().find(|it| it.variant == variant).map_or(0, |it| it.percent);
        let portions = VARIANTS.map(|variant| Portion { variant: variant.to_owned(), percent: percent(variant) });
        Self { name, portions: portions.into() }
    }

    /// What is wrong with it, and where.
    pub fn fault(&self) -> Option<(&'static str, &'static str)> {
        let is_part = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        let is_name = !self.name.is_empty() && self.name.len() <= NAME_CHARS_MAX && self.name.bytes().all(is_part);
        if !is_name {
            return Some(("experiment", "must consist of lowercase letters, digits and hyphens"));
        }
        if self.name == UNKNOWN {
            return Some(("experiment", "must not be `none`: the page says so while it knows of no experiment"));
        }
        let mut names: Vec<_> = self.portions.iter().map(|it| it.variant.as_str()).collect();
        if !names.iter().all(|name| VARIANTS.contains(name)) {
            return Some(("variants", "must be variants that the page has: why-first, advice-first"));
        }
        names.sort_unstable();
        names.dedup();
        if names.len() != self.portions.len() {
            return Some(("variants", "must name each variant once"));
        }
        let sum: u32 = self.portions.iter().map(|it| u32::from(it.percent)).sum();
        (sum != 100).then_some(("variants", "must have percentages that add up to 100"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn experiment(name: &str, portions: &[(&str, u8)]) -> Experiment {
        let portion = |&(variant, percent): &(&str, u8)| Portion { variant: variant.to_owned(), percent };
        Experiment { name: name.to_owned(), portions: portions.iter().map(portion).collect() }
    }

    #[test]
    fn the_order_and_what_is_left_out_change_nothing() {
        let complete = |portions| Experiment::complete("a".to_owned(), &experiment("a", portions).portions);
        let half = complete(&[("why-first", 50), ("advice-first", 50)]);
        assert_eq!(complete(&[("advice-first", 50), ("why-first", 50)]), half);
        assert_eq!(complete(&[("advice-first", 100)]), complete(&[("why-first", 0), ("advice-first", 100)]));
    }

    #[test]
    fn every_customer_has_a_variant_that_the_page_knows() {
        assert_eq!(Experiment::default().fault(), None);
        assert_eq!(experiment("a-2", &[("advice-first", 100)]).fault(), None);
        for (wrong, field) in [
            (experiment("", &[("why-first", 100)]), "experiment"),
            (experiment("a b", &[("why-first", 100)]), "experiment"),
            (experiment("none", &[("why-first", 100)]), "experiment"),
            (experiment("a/b", &[("why-first", 100)]), "experiment"),
            (experiment(&"a".repeat(NAME_CHARS_MAX + 1), &[("why-first", 100)]), "experiment"),
            (experiment("a", &[]), "variants"),
            (experiment("a", &[("why-first", 99)]), "variants"),
            (experiment("a", &[("why-first", 60), ("advice-first", 60)]), "variants"),
            (experiment("a", &[("why-first", 50), ("why-first", 50)]), "variants"),
            (experiment("a", &[("loud", 100)]), "variants"),
        ] {
            assert_eq!(wrong.fault().map(|(field, _)| field), Some(field), "{wrong:?}");
        }
    }
}
