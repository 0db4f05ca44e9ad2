//! A payment order for `registra`: its fields, in the order of the signature, and their JSON. See `answers` for the
//! reply.

use serde::ser::{SerializeMap, Serializer};
use serde_json::value::RawValue;
use uuid::Uuid;

use super::payee::{CLABE, Payee, Unsendable};
use super::settings::{Form, Participant};
use super::signature::Key;
use super::text;
use crate::domain::account_number::{is_clabe, normalise};
use crate::domain::remittance::{REFERENCE_MAX, Remittance};
use crate::rail::{Payment, RailError};

/// Number of signed fields of the newer form, half of which are always blank.
const FIELDS: usize = 37;

/// The older form lacks the last three fields, which are about an indirect participant.
const OLDER_FIELDS: usize = 34;

/// SPEI's maximum.
const TRACKING_KEY_LENGTH_MAX: usize = 30;

/// `conceptoPago` of a transfer without one that can be sent: STP requires it.
const CONCEPT: &str = "Transferencia";

/// `tipoPago`: third party to third party.
const THIRD_PARTY: &str = "1";

/// `topologia`, as STP's client libraries send it.
const TOPOLOGY: &str = "T";

/// `medioEntrega`, as STP's client libraries send it.
const CHANNEL: &str = "3";

/// `prioridad`, as STP's client libraries send it: normal in the newer form, high in the older.
const PRIORITY: &str = "0";
const OLDER_PRIORITY: &str = "1";

/// Texts are plain ASCII without bars, or blank.
#[derive(Debug, Default)]
pub(super) struct Order {
    counterparty: String,
    company: String,
    operating_date: String,
    folio: String,
    tracking_key: String,
    institution: String,
    amount: String,
    sender_kind: String,
    sender: String,
    sender_account: String,
    sender_tax_id: String,
    payee_kind: String,
    payee: String,
    payee_account: String,
    payee_tax_id: String,
    concept: String,
    reference: String,
    form: Form,
    /// Name, account and tax id; blank for a direct participant.
    indirect: [String; 3],
}

/// Whether a text can be a clave de rastreo: 1 to 30 letters and digits.
pub(super) fn is_tracking_key(text: &str) -> bool {
    (1..=TRACKING_KEY_LENGTH_MAX).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// A numeric reference for a transfer without one: STP requires it.
fn any_reference(transfer_id: Uuid) -> u32 {
    (transfer_id.as_u128() % u128::from(REFERENCE_MAX)) as u32 + 1
}

/// Name, value, and whether it is a number in JSON.
type Field<'a> = (&'static str, &'a str, bool);

impl Order {
    /// Deterministic: a payment sent twice is the same order.
    pub(super) fn new(payment: &Payment, participant: &Participant) -> Result<Self, Unsendable> {
        let key = &payment.tracking_key;
        if !is_tracking_key(key) || payment.amount.minor() <= 0 {
            return Err(Unsendable(None));
        }
        let Remittance { concept, reference } = &payment.remittance;
        let payee = Payee::read(&payment.payee_number, &payment.payee_bank)?;
        let issued = payment.sender_number.as_deref().map(normalise).filter(|number| is_clabe(number));
        let sender_account = issued.unwrap_or_else(|| participant.account.clone());
        Ok(Self {
            counterparty: payee.institution.to_string(),
            company: participant.company.clone(),
            operating_date: text::date(payment.operating_date),
            // Repeated in notices of a change of state, some of which lack the tracking key.
            folio: key.clone(),
            tracking_key: key.clone(),
            institution: participant.institution.to_string(),
            amount: payment.amount.to_string(),
            sender_kind: CLABE.to_owned(),
            sender: payment.sender_name.as_deref().map_or_else(|| text::UNKNOWN.to_owned(), text::plain),
            sender_account,
            sender_tax_id: text::UNKNOWN.to_owned(),
            payee_kind: payee.kind.to_owned(),
            payee: text::plain(&payment.payee_name),
            payee_account: payee.number,
            payee_tax_id: text::UNKNOWN.to_owned(),
            concept: concept.as_deref().and_then(text::fold).unwrap_or_else(|| CONCEPT.to_owned()),
            reference: reference.unwrap_or_else(|| any_reference(payment.transfer_id)).to_string(),
            form: participant.form,
            indirect: participant.indirect.clone(),
        })
    }

    /// Those of the form, in the order of the signature.
    fn fields(&self) -> Vec<Field<'_>> {
        fn text<'a>(name: &'static str, value: &'a str) -> Field<'a> {
            (name, value, false)
        }
        fn number<'a>(name: &'static str, value: &'a str) -> Field<'a> {
            (name, value, true)
        }
        let (length, priority) = match self.form {
            Form::Current => (FIELDS, PRIORITY),
            Form::Older => (OLDER_FIELDS, OLDER_PRIORITY),
        };
        let [indirect, indirect_account, indirect_tax_id] = &self.indirect;
        let fields: [_; FIELDS] = [
            text("institucionContraparte", &self.counterparty),
            text("empresa", &self.company),
            text("fechaOperacion", &self.operating_date),
            text("folioOrigen", &self.folio),
            text("claveRastreo", &self.tracking_key),
            text("institucionOperante", &self.institution),
            number("monto", &self.amount),
            number("tipoPago", THIRD_PARTY),
            number("tipoCuentaOrdenante", &self.sender_kind),
            text("nombreOrdenante", &self.sender),
            text("cuentaOrdenante", &self.sender_account),
            text("rfcCurpOrdenante", &self.sender_tax_id),
            number("tipoCuentaBeneficiario", &self.payee_kind),
            text("nombreBeneficiario", &self.payee),
            text("cuentaBeneficiario", &self.payee_account),
            text("rfcCurpBeneficiario", &self.payee_tax_id),
            text("emailBeneficiario", ""),
            number("tipoCuentaBeneficiario2", ""),
            text("nombreBeneficiario2", ""),
            text("cuentaBeneficiario2", ""),
            text("rfcCurpBeneficiario2", ""),
            text("conceptoPago", &self.concept),
            text("conceptoPago2", ""),
            text("claveCatUsuario1", ""),
            text("claveCatUsuario2", ""),
            text("clavePago", ""),
            text("referenciaCobranza", ""),
            number("referenciaNumerica", &self.reference),
            text("tipoOperacion", ""),
            text("topologia", TOPOLOGY),
            text("usuario", ""),
            number("medioEntrega", CHANNEL),
            number("prioridad", priority),
            number("iva", ""),
            text("nombreParticipanteIndirecto", indirect),
            text("cuentaParticipanteIndirecto", indirect_account),
            text("rfcParticipanteIndirecto", indirect_tax_id),
        ];
        fields.into_iter().take(length).collect()
    }

    /// The signed text.
    fn canonical(&self) -> String {
        text::canonical(self.fields().into_iter().map(|(_, value, _)| value))
    }

    /// JSON with the signature, without blank fields.
    pub(super) fn signed(&self, key: &Key) -> Result<String, RailError> {
        let signature = key.sign(&self.canonical()).map_err(RailError::Unreachable)?;
        self.json(&signature).map_err(|error| RailError::Unreachable(error.into()))
    }

    /// Numbers are written as text, so that the JSON has `1.20` where the signature has it.
    fn json(&self, signature: &str) -> serde_json::Result<String> {
        let mut json = Vec::new();
        let mut serializer = serde_json::Serializer::new(&mut json);
        let mut map = serializer.serialize_map(None)?;
        for (name, value, is_number) in self.fields().into_iter().filter(|(_, value, _)| !value.is_empty()) {
            if is_number {
                map.serialize_entry(name, &RawValue::from_string(value.to_owned())?)?;
            } else {
                map.serialize_entry(name, value)?;
            }
        }
        map.serialize_entry("firma", signature)?;
        map.end()?;
        Ok(String::from_utf8_lossy(&json).into_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::money::Money;
    use proptest::prelude::*;
    use time::macros::{date, datetime};

    fn participant() -> Participant {
        Participant {
            company: "CAUDAL".into(),
            account: "646180110400000007".into(),
            institution: 90_646,
            form: Form::Current,
            indirect: Default::default(),
        }
    }

    fn payment() -> Payment {
        Payment {
            transfer_id: Uuid::from_u128(9_999_998),
            tracking_key: "CAUD20261121ZZZZZZZZZZZZZZZZZZ".into(),
            amount: Money::from_minor(849_950),
            created_at: datetime!(2026-11-21 12:00 UTC),
            operating_date: date!(2026 - 11 - 23),
            sender_number: Some("646180157099999993".into()),
            sender_name: Some("Ana María".into()),
            payee_name: "José | Núñez".into(),
            payee_number: "0126 6001 5490 7251 98".into(),
            payee_bank: "Banorte".into(),
            remittance: Remittance::NONE,
        }
    }

    /// The order in the tests of STP's Python client, cuenca-mx/stpmex-python: tests/test_auth.py.
    fn published() -> Order {
        Order {
            counterparty: "40072".into(),
            company: "TAMIZI".into(),
            tracking_key: "CR1564969083".into(),
            institution: "90646".into(),
            amount: Money::from_minor(120).to_string(),
            payee_kind: "40".into(),
            payee: "Ricardo Sanchez".into(),
            payee_account: "072691004495711499".into(),
            payee_tax_id: "ND".into(),
            concept: "Prueba".into(),
            reference: "5273144".into(),
            ..Order::default()
        }
    }

    #[test]
    fn the_canonical_string_matches_published_orders() {
        let older = Order { form: Form::Older, ..published() };
        let want = "||40072|TAMIZI|||CR1564969083|90646|1.20|1|||||40|Ricardo Sanchez|072691004495711499|ND\
            ||||||Prueba||||||5273144||T||3|1|||";
        assert_eq!(older.canonical(), want);

        let direct = Order { sender_kind: "40".into(), sender_account: "646180110400000007".into(), ..published() };
        let want = "||40072|TAMIZI|||CR1564969083|90646|1.20|1|40||646180110400000007||40|Ricardo Sanchez\
            |072691004495711499|ND||||||Prueba||||||5273144||T||3|0||||||";
        assert_eq!(direct.canonical(), want);

        let indirect = ["AMU", "646180157099999993", "WDCT680526LI0"].map(str::to_owned);
        let indirect = Order { indirect, ..direct };
        let end = "|T||3|0||AMU|646180157099999993|WDCT680526LI0||";
        assert!(indirect.canonical().ends_with(end), "{}", indirect.canonical());
    }

    #[test]
    fn a_payment_fills_the_fields() {
        let order = Order::new(&payment(), &participant()).unwrap();
        let key = "CAUD20261121ZZZZZZZZZZZZZZZZZZ";
        let want = format!(
            "||40012|CAUDAL|20261123|{key}|{key}|90646|8499.50|1|40|Ana Maria|646180157099999993|ND\
            |40|Jose Nunez|012660015490725198|ND||||||Transferencia||||||9999999||T||3|0||||||"
        );
        assert_eq!(order.canonical(), want);
        let json = order.json("c2lnbmVk").unwrap();
        assert!(json.contains(r#""monto":8499.50,"tipoPago":1,"tipoCuentaOrdenante":40,"#), "{json}");
        assert!(json.contains(r#""institucionContraparte":"40012""#) && json.ends_with(r#""firma":"c2lnbmVk"}"#));
        assert!(!json.contains("iva") && !json.contains(r#""""#), "{json}");
    }

    #[test]
    fn what_the_sender_tells_the_payee_is_sent_in_ascii_and_anything_else_by_default() {
        let sent = |concept: Option<&str>, reference| {
            let remittance = Remittance { concept: concept.map(str::to_owned), reference };
            let order = Order::new(&Payment { remittance, ..payment() }, &participant()).unwrap();
            (order.concept, order.reference)
        };
        let sent_as = |concept: &str, reference: &str| (concept.to_owned(), reference.to_owned());
        assert_eq!(sent(Some("Renta, año 2026 | ñandú"), Some(7)), sent_as("Renta ano 2026 nandu", "7"));
        assert_eq!(sent(Some("é".repeat(40).as_str()), Some(REFERENCE_MAX)), sent_as(&"e".repeat(39), "9999999"));
        for nothing in [None, Some("🎂🎉"), Some("李明"), Some("|")] {
            assert_eq!(sent(nothing, None), sent_as("Transferencia", "9999999"), "{nothing:?}");
        }
    }

    #[test]
    fn an_account_without_an_issued_number_sends_from_the_banks_account() {
        for number in [None, Some(""), Some("0001"), Some("646180157099999990"), Some("4111111111111111")] {
            let sender_number = number.map(str::to_owned);
            let order = Order::new(&Payment { sender_number, ..payment() }, &participant()).unwrap();
            assert_eq!((order.sender_account.as_str(), order.sender_kind.as_str()), ("646180110400000007", "40"));
        }
    }

    #[test]
    fn a_holder_whom_the_bank_has_not_verified_has_no_name() {
        let order = Order::new(&Payment { sender_name: None, ..payment() }, &participant()).unwrap();
        assert_eq!(order.sender, "ND");
    }

    #[test]
    fn a_payment_without_a_key_or_an_amount_is_unsendable() {
        let key = |key: &str| Payment { tracking_key: key.into(), ..payment() };
        let amount = |minor| Payment { amount: Money::from_minor(minor), ..payment() };
        let payments = [key(""), key("A|B"), key("CAÑA"), key(&"A".repeat(31)), amount(0), amount(-1)];
        for payment in payments {
            assert_eq!(Order::new(&payment, &participant()).unwrap_err(), Unsendable(None), "{payment:?}");
        }
    }

    /// Texts that could break the bar-separated format.
    fn hostile() -> impl Strategy<Value = String> {
        prop_oneof![any::<String>(), "[|a ñ\u{0}-\u{1f}\u{301}😀ß-]{0,300}", "\\PC{300}"]
    }

    proptest! {
        #[test]
        fn no_text_makes_the_canonical_string_ambiguous_or_more_than_ascii(
            sender_name in proptest::option::of(hostile()),
            payee_name in hostile(),
            payee_bank in hostile(),
            sender_number in proptest::option::of(hostile()),
            concept in proptest::option::of(hostile()),
            tracking_key in prop_oneof![hostile(), "[A-Z0-9]{1,30}"],
            payee_number in prop_oneof![hostile(), Just("012660015490725198".to_owned())],
            minor in 1..=Money::MAX.minor(),
        ) {
            let amount = Money::from_minor(minor);
            let remittance = Remittance { concept, reference: None };
            let texts = Payment { sender_name, payee_name, payee_bank, sender_number, amount, remittance, ..payment() };
            let order = Order::new(&texts, &participant()).unwrap();
            let canonical = order.canonical();
            prop_assert!(canonical.bytes().all(|byte| (b' '..=b'~').contains(&byte)), "{canonical}");
            let inside = canonical.strip_prefix("||").and_then(|rest| rest.strip_suffix("||")).unwrap();
            let values: Vec<_> = order.fields().into_iter().map(|(_, value, _)| value).collect();
            prop_assert_eq!(inside.split('|').collect::<Vec<_>>(), values.clone());
            prop_assert!([values[9], values[13], values[21]].iter().all(|name| (1..=39).contains(&name.len())));
            prop_assert!((4..=17).contains(&values[6].len()) && values[10].len() == 18);
            let json: serde_json::Value = serde_json::from_str(&order.json("x").unwrap()).unwrap();
            prop_assert_eq!(&json["nombreBeneficiario"], values[13]);
            // Keys and numbers are never folded: such a payment is rejected or sent unchanged.
            let keyed = Payment { tracking_key, payee_number, ..texts };
            if let Ok(order) = Order::new(&keyed, &participant()) {
                prop_assert_eq!(order.canonical().matches('|').count(), FIELDS + 3);
                prop_assert_eq!(order.tracking_key, keyed.tracking_key);
            }
        }
    }
}
