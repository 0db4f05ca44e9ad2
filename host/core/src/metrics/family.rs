//! What a row of the table declares: a metric, or a family of them.

use std::ops::Deref;
use std::sync::atomic::AtomicU64;

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::{Family, MetricConstructor};
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

/// One metric for each combination of its labels' values.
pub struct Labelled<M, const N: usize> {
    names: [&'static str; N],
    family: Family<[(&'static str, &'static str); N], M, Fresh>,
}

pub(super) type Counters<const N: usize> = Labelled<Counter, N>;
pub(super) type Gauges<const N: usize> = Labelled<Gauge, N>;
/// A gauge of a figure that is no count.
pub(super) type Figure = Gauge<f64, AtomicU64>;
pub(super) type Figures<const N: usize> = Labelled<Figure, N>;
pub(super) type Histograms<const N: usize> = Labelled<Histogram, N>;

impl<M, const N: usize> Labelled<M, N>
where
    Fresh: MetricConstructor<M>,
{
    /// The metric with these label values; it is exported from the first call on.
    pub fn of(&self, values: [&'static str; N]) -> impl Deref<Target = M> + '_ {
        let mut labels = self.names.map(|name| (name, ""));
        labels.iter_mut().zip(values).for_each(|((_, label), value)| *label = value);
        self.family.get_or_create(&labels)
    }
}

/// Makes metrics, histograms with these upper bounds.
#[derive(Clone, Copy)]
pub struct Fresh(&'static [f64]);

impl MetricConstructor<Counter> for Fresh {
    fn new_metric(&self) -> Counter {
        Counter::default()
    }
}

impl MetricConstructor<Gauge> for Fresh {
    fn new_metric(&self) -> Gauge {
        Gauge::default()
    }
}

impl MetricConstructor<Figure> for Fresh {
    fn new_metric(&self) -> Figure {
        Figure::default()
    }
}

impl MetricConstructor<Histogram> for Fresh {
    fn new_metric(&self) -> Histogram {
        Histogram::new(self.0.iter().copied())
    }
}

/// A row of the table.
#[derive(Debug)]
pub struct Definition {
    /// Without the prefix.
    pub name: &'static str,
    pub kind: &'static str,
    pub labels: &'static [&'static str],
    pub help: &'static str,
    /// Upper bounds of a histogram's buckets.
    pub(super) buckets: &'static [f64],
}

/// A metric that a row of the table declares.
pub(super) trait Declared: Sized {
    const KIND: &'static str;

    fn declare(definition: &Definition, registry: &mut Registry) -> Self;
}

macro_rules! declared {
    ($($metric:ident = $kind:literal;)+) => {$(
        impl Declared for $metric {
            const KIND: &'static str = $kind;

            fn declare(definition: &Definition, registry: &mut Registry) -> Self {
                let metric: Self = Fresh(definition.buckets).new_metric();
                registry.register(definition.name, definition.help, metric.clone());
                metric
            }
        }

        impl<const N: usize> Declared for Labelled<$metric, N> {
            const KIND: &'static str = $kind;

            fn declare(definition: &Definition, registry: &mut Registry) -> Self {
                let family = Family::new_with_constructor(Fresh(definition.buckets));
                registry.register(definition.name, definition.help, family.clone());
                let mut names = [""; N];
                names.copy_from_slice(definition.labels);
                Self { names, family }
            }
        }
    )+};
}

declared! {
    Counter = "counter";
    Gauge = "gauge";
    Figure = "gauge";
    Histogram = "histogram";
}
