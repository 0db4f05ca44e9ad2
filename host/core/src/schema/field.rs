//! A declaration as data.

/// A request or an answer.
#[derive(Debug, Clone, Copy)]
pub struct Declaration {
    /// Unique among all declarations: the name in OpenAPI and TypeScript.
    pub name: &'static str,
    /// Lines of the doc comment.
    pub about: &'static str,
    /// In the order in which they are read and written.
    pub fields: &'static [Field],
}

/// A declared struct.
pub trait Record {
    const DECLARATION: Declaration;
}

/// One field.
#[derive(Debug, Clone, Copy)]
pub struct Field {
    pub name: &'static str,
    /// Lines of the doc comment.
    pub about: &'static str,
    pub shape: Shape,
    pub required: bool,
    /// An absent value is written as `null` instead of being left out.
    pub nullable: bool,
    /// Unit of a number, for example `MXN`.
    pub unit: &'static str,
    /// JSON.
    pub example: &'static str,
    pub alias: Option<Alias>,
    /// May be left out by a request that uses the first name, an alias, instead of the second.
    pub optional_with: Option<(&'static str, &'static str)>,
    /// The component's name for it, unless that is the camelCase of `name`.
    pub component: Option<&'static str>,
}

/// A second name of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Alias {
    /// The same name in another spelling: only one of them may be sent.
    Spelling(&'static str),
    /// Another name: both may be sent if they agree.
    Synonym(&'static str),
}

impl Alias {
    pub fn name(self) -> &'static str {
        match self {
            Self::Spelling(name) | Self::Synonym(name) => name,
        }
    }
}

/// Type and bounds.
#[derive(Debug, Clone, Copy)]
pub enum Shape {
    Boolean,
    /// Finite.
    Number {
        at_least: Option<f64>,
        at_most: Option<f64>,
    },
    /// Without an upper bound, a request's integers saturate at 2^32 - 1.
    Integer {
        at_least: Option<i64>,
        at_most: Option<i64>,
    },
    /// Exact money: a number with at most two decimals. With `positive`, an amount to send.
    Money {
        positive: bool,
    },
    Text {
        chars_max: Option<usize>,
        form: TextForm,
    },
    /// One of fixed texts; `names` are the cases' names in Rust.
    OneOf {
        texts: &'static [&'static str],
        names: &'static [&'static str],
    },
    Array {
        items: &'static Shape,
        length_min: usize,
        length_max: Option<usize>,
    },
    Object(&'static Declaration),
    /// Its fields are inlined into the enclosing record.
    Flat(&'static Declaration),
    /// Any names, with values of one shape.
    Map(&'static Shape),
    /// Any JSON.
    Any,
    /// Not on the wire.
    Hidden,
}

/// What a text must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextForm {
    Any,
    NotBlank,
    /// Has a letter or a digit.
    AccountNumber,
    /// Visible ASCII, not empty.
    Visible,
    /// White space around it is dropped; inside, everything but spaces can be seen. May be empty.
    Line,
    Uuid,
    /// RFC 3339.
    Instant,
    /// A day, as in RFC 3339.
    Date,
    Constant(&'static str),
}

impl Shape {
    /// One of these texts.
    pub const fn texts(texts: &'static [&'static str]) -> Self {
        Self::OneOf { texts, names: texts }
    }

    /// A text of 1 to `chars_max` characters.
    pub const fn text(chars_max: usize) -> Self {
        Self::Text { chars_max: Some(chars_max), form: TextForm::NotBlank }
    }
}

impl Field {
    pub const fn new(name: &'static str, about: &'static str, shape: Shape, required: bool) -> Self {
        Self {
            name,
            about,
            shape,
            required,
            nullable: false,
            unit: "",
            example: "",
            alias: None,
            optional_with: None,
            component: None,
        }
    }

    pub const fn named(self, name: &'static str) -> Self {
        Self { name, ..self }
    }

    pub const fn unit(self, unit: &'static str) -> Self {
        Self { unit, ..self }
    }

    pub const fn example(self, example: &'static str) -> Self {
        Self { example, ..self }
    }

    pub const fn nullable(self, nullable: bool) -> Self {
        Self { nullable, ..self }
    }

    pub const fn spelling(self, name: &'static str) -> Self {
        Self { alias: Some(Alias::Spelling(name)), ..self }
    }

    pub const fn synonym(self, name: &'static str) -> Self {
        Self { alias: Some(Alias::Synonym(name)), ..self }
    }

    pub const fn optional_with(self, alias: (&'static str, &'static str)) -> Self {
        Self { optional_with: Some(alias), ..self }
    }

    pub const fn component(self, name: &'static str) -> Self {
        Self { component: Some(name), ..self }
    }

    /// Lower bound of a number.
    pub const fn at_least(self, bound: f64) -> Self {
        let shape = match self.shape {
            Shape::Number { at_most, .. } => Shape::Number { at_least: Some(bound), at_most },
            Shape::Integer { at_most, .. } => Shape::Integer { at_least: Some(bound as i64), at_most },
            other => other,
        };
        Self { shape, ..self }
    }

    /// Upper bound of a number.
    pub const fn at_most(self, bound: f64) -> Self {
        let shape = match self.shape {
            Shape::Number { at_least, .. } => Shape::Number { at_least, at_most: Some(bound) },
            Shape::Integer { at_least, .. } => Shape::Integer { at_least, at_most: Some(bound as i64) },
            other => other,
        };
        Self { shape, ..self }
    }

    /// Maximum characters of a text, or of each text in a list.
    pub const fn chars_max(self, chars: usize) -> Self {
        let shape = match self.shape {
            Shape::Text { form, .. } => Shape::Text { chars_max: Some(chars), form },
            other => other,
        };
        Self { shape, ..self }
    }

    pub const fn form(self, form: TextForm) -> Self {
        let shape = match self.shape {
            Shape::Text { chars_max, .. } => Shape::Text { chars_max, form },
            other => other,
        };
        Self { shape, ..self }
    }

    /// An amount to send.
    pub const fn positive(self, positive: bool) -> Self {
        Self { shape: Shape::Money { positive }, ..self }
    }

    /// Minimum items of a list.
    pub const fn length_min(self, length_min: usize) -> Self {
        let shape = match self.shape {
            Shape::Array { items, length_max, .. } => Shape::Array { items, length_min, length_max },
            other => other,
        };
        Self { shape, ..self }
    }

    /// Maximum items of a list.
    pub const fn length_max(self, length: usize) -> Self {
        let shape = match self.shape {
            Shape::Array { items, length_min, .. } => Shape::Array { items, length_min, length_max: Some(length) },
            other => other,
        };
        Self { shape, ..self }
    }

    pub const fn items(self, items: &'static Shape) -> Self {
        let shape = match self.shape {
            Shape::Array { length_min, length_max, .. } => Shape::Array { items, length_min, length_max },
            other => other,
        };
        Self { shape, ..self }
    }

    /// The only allowed texts.
    pub const fn one_of(self, texts: &'static [&'static str]) -> Self {
        Self { shape: Shape::texts(texts), ..self }
    }

    /// Lines of the doc comment as one.
    pub fn sentence(&self) -> String {
        sentence(self.about)
    }
}

impl Declaration {
    /// All fields on the wire, with flat records inlined.
    pub fn wire_fields(&self) -> Vec<&'static Field> {
        let mut all = Vec::new();
        for field in self.fields {
            match field.shape {
                Shape::Flat(inner) => all.extend(inner.wire_fields()),
                Shape::Hidden => {}
                _ => all.push(field),
            }
        }
        all
    }

    /// Lines of the doc comment as one.
    pub fn sentence(&self) -> String {
        sentence(self.about)
    }
}

fn sentence(about: &str) -> String {
    let lines: Vec<_> = about.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    lines.join(" ")
}
