//! What defines a kind of scorer.

use std::borrow::Cow;
use std::fmt::Debug;

use serde::Serialize;

use crate::domain::accessibility::Language;
use crate::domain::fact::manifest::Manifest;
use crate::domain::model::{ModelKind, ModelVersion};
use crate::domain::risk::CutOffs;
use crate::schema::{Fields, FromFields, Record};
use crate::scoring::random::Random;
use crate::wasm::{Component, ScorerWorld};

/// Longest user or session identifier.
pub(super) const ID_CHARS_MAX: usize = 255;

/// A kind of scorer. Serving, backtests, the gate, comparisons of versions and replay are generic over
/// it; a new kind implements it in a file of its own and is added to `kinds!` in [`crate::scoring`].
pub trait Kind: Send + Sync + Sized + 'static {
    const KIND: ModelKind;

    /// The path in the HTTP API.
    const PATH: &'static str;

    /// The name of its operation in the HTTP API, and what it does.
    const OPERATION: (&'static str, &'static str);

    /// Whether an answer is in the language that the client prefers.
    const IS_IN_WORDS: bool = false;

    /// The body of a request in the HTTP API.
    type Body: FromFields;
    /// The part of it that a component gets.
    type Request: Clone + Debug + PartialEq + Send + Sync + 'static;
    type Assessment: Clone + Debug + Send + Sync + 'static;
    /// The answer in the HTTP API.
    type Response: Record + Serialize + Send + 'static;
    /// How components of this kind are called.
    type World: ScorerWorld<Request = Self::Request, Assessment = Self::Assessment> + 'static;

    /// Scores at which the verdict changes, by name, unless the deployment states others.
    const THRESHOLDS: &'static [(&'static str, f64)] = &[];

    /// Columns of a backtest's CSV output.
    const COLUMNS: &'static [&'static str];

    /// The verdicts on which two versions may disagree.
    const CLASSES: &'static [&'static str];

    /// Whether answers reveal too much about a person to be counted. Two versions then only agree or
    /// disagree, and [`Self::CLASSES`] are `same` and `other`.
    const IS_PRIVATE: bool = false;

    /// Requests and expectations derived by hand from the specification, one JSON object per line.
    /// The gate holds every component of this kind to them.
    const CASES: &'static str;

    /// The expectations in [`Self::CASES`] that follow from the specification alone, whatever the model.
    const REQUIRED: &'static [&'static str];

    /// Reads a request; faults are recorded in `fields`. An explanation is in `language`.
    fn read(fields: &mut Fields, language: Language) -> Envelope<Self::Request>;

    fn response(envelope: Envelope<Self::Request>, scored: Scored<Self::Assessment>) -> Self::Response;

    /// A response as values of [`Self::COLUMNS`].
    fn columns(response: &Self::Response) -> Vec<Cow<'_, str>>;

    /// An assessment whose verdict is that of the deployment, not the component's own.
    fn judged(assessment: Self::Assessment, _: CutOffs) -> Self::Assessment {
        assessment
    }

    /// The index of an assessment's verdict: in [`Self::CLASSES`], unless [`Self::IS_PRIVATE`].
    fn class(assessment: &Self::Assessment) -> usize;

    /// The number behind the verdict, 0 to 1.
    fn score(assessment: &Self::Assessment) -> f64;

    /// The features of a request that are monitored for drift, by their names in the HTTP API, as far as they are known.
    fn features(request: &Self::Request) -> Vec<(&'static str, f64)>;

    /// Their names.
    fn monitored() -> Vec<&'static str> {
        let any = Self::random_request(&mut Random::new(1));
        any.iter().flat_map(Self::features).map(|(name, _)| name).collect()
    }

    /// A random request for the gate; `None` for kinds without invariants beyond [`Self::CASES`].
    fn random_request(_: &mut Random) -> Option<Self::Request> {
        None
    }

    /// What a component with this manifest gets of a request, for people.
    fn shown(request: &Self::Request, _: Option<&Manifest>) -> String {
        format!("{request:?}")
    }

    /// Variants of the request, each made worse in one named way, for a component with this manifest. The score must not
    /// fall.
    fn worsened(_: &Self::Request, _: Option<&Manifest>, _: &mut Random) -> Vec<(String, Self::Request)> {
        Vec::new()
    }
}

/// A component of kind `K`.
pub type Scorer<K> = Component<<K as Kind>::World>;

/// An answer and the version that gave it.
#[derive(Debug, Clone)]
pub struct Scored<T> {
    pub assessment: T,
    pub version: ModelVersion,
}

/// A request with the identifiers that its response repeats. A canary serves users by `user_id`.
#[derive(Debug, Clone)]
pub struct Envelope<R> {
    pub request: R,
    pub user_id: Option<String>,
    pub session_id: Option<String>,
}

impl<R> Envelope<R> {
    /// Reads a request of kind `K`; faults are recorded in `fields`.
    pub fn read<K: Kind<Request = R>>(fields: &mut Fields, language: Language) -> Self {
        K::read(fields, language)
    }
}

/// A column of a value that may be absent.
pub(super) fn column(value: Option<&str>) -> Cow<'_, str> {
    Cow::Borrowed(value.unwrap_or_default())
}

/// A boolean as a feature.
pub(super) fn flag(value: bool) -> f64 {
    f64::from(u8::from(value))
}
