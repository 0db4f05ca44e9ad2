//! Metrics as OTLP has them, from the text that `/metrics` shows. Pure.

use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue};
use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use opentelemetry_proto::tonic::metrics::v1::number_data_point::Value as Number;
use opentelemetry_proto::tonic::metrics::v1::{
    AggregationTemporality, Gauge, Histogram, HistogramDataPoint, Metric, NumberDataPoint, Sum,
};
use time::OffsetDateTime;

/// Since when counters count, and when they were read.
#[derive(Clone, Copy)]
pub(super) struct Period {
    pub(super) from: OffsetDateTime,
    pub(super) to: OffsetDateTime,
}

impl Period {
    fn nanoseconds(self) -> (u64, u64) {
        [self.from, self.to].map(|at| u64::try_from(at.unix_timestamp_nanos()).unwrap_or_default()).into()
    }
}

/// Reads what `prometheus-client` writes: of each family its help and type, then its samples, those of a histogram by
/// ascending bounds. Labels have values of our own, without quotes.
pub(super) fn metrics(text: &str, period: Period) -> Vec<Metric> {
    let mut metrics: Vec<Metric> = Vec::new();
    let mut help = "";
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("# HELP ") {
            help = rest.split_once(' ').map_or("", |(_, help)| help);
        } else if let Some(rest) = line.strip_prefix("# TYPE ") {
            metrics.extend(rest.split_once(' ').map(|(name, kind)| family(name, kind, help)));
        } else if let Some(metric) = metrics.last_mut().filter(|_| !line.starts_with('#')) {
            add(metric, line, period);
        }
    }
    // A family without samples yet is no metric.
    metrics.retain(|metric| match &metric.data {
        Some(Data::Sum(sum)) => !sum.data_points.is_empty(),
        Some(Data::Gauge(gauge)) => !gauge.data_points.is_empty(),
        Some(Data::Histogram(histogram)) => !histogram.data_points.is_empty(),
        _ => false,
    });
    metrics
}

fn family(name: &str, kind: &str, help: &str) -> Metric {
    let aggregation_temporality = AggregationTemporality::Cumulative.into();
    let data = match kind {
        "counter" => Data::Sum(Sum { aggregation_temporality, is_monotonic: true, data_points: Vec::new() }),
        "histogram" => Data::Histogram(Histogram { aggregation_temporality, data_points: Vec::new() }),
        _ => Data::Gauge(Gauge::default()),
    };
    // A full stop that the text format adds.
    let description = help.strip_suffix('.').unwrap_or(help).to_owned();
    Metric { name: name.to_owned(), description, data: Some(data), ..Metric::default() }
}

/// Adds a sample, such as `caudal_answers_total{class="2xx"} 7`.
fn add(metric: &mut Metric, line: &str, period: Period) {
    let Some((series, value)) = line.rsplit_once(' ') else { return };
    let (name, labels) = series.split_once('{').unwrap_or((series, ""));
    let suffix = name.strip_prefix(metric.name.as_str()).unwrap_or_default();
    let quoted: Vec<_> = labels.trim_end_matches('}').split('"').collect();
    let labels = quoted.chunks_exact(2).map(|pair| (pair[0].trim_matches([',', '=']), pair[1]));
    let (bound, labels): (Vec<_>, Vec<_>) = labels.partition(|(name, _)| *name == "le");
    let attributes: Vec<_> = labels.into_iter().map(|(name, value)| attribute(name, value)).collect();
    let (start_time_unix_nano, time_unix_nano) = period.nanoseconds();
    let point = || NumberDataPoint {
        attributes: attributes.clone(),
        start_time_unix_nano,
        time_unix_nano,
        value: number(value),
        ..NumberDataPoint::default()
    };
    match &mut metric.data {
        Some(Data::Sum(sum)) => sum.data_points.push(point()),
        Some(Data::Gauge(gauge)) => gauge.data_points.push(point()),
        Some(Data::Histogram(Histogram { data_points, .. })) => {
            if data_points.last().is_none_or(|last| last.attributes != attributes) {
                let times =
                    HistogramDataPoint { start_time_unix_nano, time_unix_nano, ..HistogramDataPoint::default() };
                data_points.push(HistogramDataPoint { attributes, ..times });
            }
            let Some(point) = data_points.last_mut() else { return };
            match (suffix, bound.first()) {
                ("_sum", _) => point.sum = value.parse().ok(),
                ("_count", _) => point.count = value.parse().unwrap_or_default(),
                (_, Some((_, bound))) => {
                    // The text counts what is below each bound, OTLP what is between two.
                    let below: u64 = point.bucket_counts.iter().sum();
                    point.bucket_counts.push(value.parse().unwrap_or(below).saturating_sub(below));
                    point.explicit_bounds.extend(bound.parse::<f64>().ok().filter(|bound| bound.is_finite()));
                }
                _ => {}
            }
        }
        _ => {}
    }
}

fn number(text: &str) -> Option<Number> {
    text.parse().map(Number::AsInt).or_else(|_| text.parse().map(Number::AsDouble)).ok()
}

fn attribute(name: &str, value: &str) -> KeyValue {
    let value = Some(AnyValue { value: Some(Value::StringValue(value.to_owned())) });
    KeyValue { key: name.to_owned(), value, ..KeyValue::default() }
}

#[cfg(test)]
mod tests {
    use time::Duration;

    use super::*;
    use crate::metrics::{DEFINITIONS, Metrics};

    fn read(source: &Metrics) -> Vec<Metric> {
        let from = OffsetDateTime::UNIX_EPOCH + Duration::SECOND;
        metrics(&source.text(), Period { from, to: from + 2 * Duration::SECOND })
    }

    fn of<'a>(metrics: &'a [Metric], name: &str) -> &'a Data {
        metrics.iter().find(|it| it.name == format!("caudal_{name}")).unwrap().data.as_ref().unwrap()
    }

    #[test]
    fn values_labels_and_times_arrive() {
        let source = Metrics::default();
        source.transfers.of(["refused", "insufficient-funds"]).inc_by(3);
        source.queue_commands.of(["1"]).set(7);
        let metrics = read(&source);
        let Data::Sum(sum) = of(&metrics, "transfers") else { panic!() };
        assert!(sum.is_monotonic);
        assert_eq!(sum.aggregation_temporality, AggregationTemporality::Cumulative as i32);
        let point = &sum.data_points[0];
        assert_eq!(point.value, Some(Number::AsInt(3)));
        assert_eq!((point.start_time_unix_nano, point.time_unix_nano), (1_000_000_000, 3_000_000_000));
        let labels = [attribute("outcome", "refused"), attribute("reason", "insufficient-funds")];
        assert_eq!(point.attributes, labels);
        let Data::Gauge(gauge) = of(&metrics, "ledger_queue_commands") else { panic!() };
        assert_eq!(gauge.data_points[0].value, Some(Number::AsInt(7)));
    }

    #[test]
    fn a_histogram_keeps_its_buckets() {
        let source = Metrics::default();
        [1.0, 3.0, 3.0, 1000.0].into_iter().for_each(|value| source.batch_commands.observe(value));
        let metrics = read(&source);
        let Data::Histogram(histogram) = of(&metrics, "ledger_batch_commands") else { panic!() };
        let [point] = &histogram.data_points[..] else { panic!("{histogram:?}") };
        assert_eq!((point.count, point.sum), (4, Some(1007.0)));
        assert_eq!(point.explicit_bounds, [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0]);
        assert_eq!(point.bucket_counts, [1, 0, 2, 0, 0, 0, 0, 0, 1]);
    }

    #[test]
    fn all_metrics_are_of_the_table_and_have_its_help() {
        let metrics = read(&Metrics::default());
        assert!(metrics.len() > 5, "{metrics:?}");
        for metric in metrics {
            if let Some(Data::Sum(Sum { data_points, .. })) = &metric.data {
                assert!(data_points.iter().all(|point| point.value.is_some()), "{metric:?}");
            }
            let definition = DEFINITIONS.iter().find(|it| metric.name == format!("caudal_{}", it.name)).unwrap();
            assert_eq!(metric.description, definition.help);
        }
    }
}
