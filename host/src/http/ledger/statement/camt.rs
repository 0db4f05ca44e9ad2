//! A statement as a message camt.053.001.08 of ISO 20022. OPERATING.md says what it contains.

use std::io;

use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesEnd, BytesStart, BytesText, Event};
use time::Duration;

use super::summary::Statement;
use crate::clock::{mexico_city_date, timestamp};
use crate::db::entries::Entry;
use crate::domain::account_number::{self, Kind, normalise};
use crate::domain::bank_account::CURRENCY;
use crate::domain::banks;
use crate::domain::money::Money;
use crate::http::ledger::entries::kind_of;

const NAMESPACE: &str = "urn:iso:std:iso:20022:tech:xsd:camt.053.001.08";

/// Of what the message has several lengths of text for: `Max34Text`, `Max35Text` and `Max140Text`.
const NUMBER_CHARS_MAX: usize = 34;
const ID_CHARS_MAX: usize = 35;
const TEXT_CHARS_MAX: usize = 140;

/// An entry's family and subfamily of ISO 20022's bank transaction codes in the domain of payments, and whether it takes an
/// earlier one back.
fn code_of(kind: &str) -> (&'static str, &'static str, bool) {
    match kind {
        "transfer" => ("ICDT", "DMCT", false),
        "refund" | "return" => ("ICDT", "RRTN", true),
        "reversal" => ("RCDT", "RRTN", true),
        "received" => ("RCDT", "DMCT", false),
        // Within the bank.
        _ => ("RCDT", "BOOK", false),
    }
}

struct Xml(Writer<Vec<u8>>);

impl Xml {
    fn new() -> Self {
        Self(Writer::new(Vec::new()))
    }

    fn open(&mut self, tag: &str) -> io::Result<()> {
        self.0.write_event(Event::Start(BytesStart::new(tag)))
    }

    fn close(&mut self, tag: &str) -> io::Result<()> {
        self.0.write_event(Event::End(BytesEnd::new(tag)))
    }

    /// An element within elements; none of them if the text is empty.
    fn text(&mut self, path: &[&str], text: &str) -> io::Result<()> {
        if text.is_empty() {
            return Ok(());
        }
        path.iter().try_for_each(|tag| self.open(tag))?;
        self.0.write_event(Event::Text(BytesText::new(text)))?;
        path.iter().rev().try_for_each(|tag| self.close(tag))
    }

    fn amount(&mut self, amount: Money) -> io::Result<()> {
        let start = BytesStart::new("Amt").with_attributes([("Ccy", CURRENCY)]);
        self.0.write_event(Event::Start(start))?;
        self.0.write_event(Event::Text(BytesText::new(&magnitude(amount))))?;
        self.close("Amt")?;
        self.direction(amount)
    }

    fn direction(&mut self, amount: Money) -> io::Result<()> {
        self.text(&["CdtDbtInd"], if amount < Money::ZERO { "DBIT" } else { "CRDT" })
    }

    /// Nothing for a number that the message has no room for.
    fn account(&mut self, path: &[&str], number: &str) -> io::Result<()> {
        let (number, kind) = (normalise(number), account_number::read(number).kind);
        if number.is_empty() || number.chars().count() > NUMBER_CHARS_MAX {
            return Ok(());
        }
        path.iter().try_for_each(|tag| self.open(tag))?;
        self.open("Othr")?;
        self.text(&["Id"], &plain(&number, NUMBER_CHARS_MAX))?;
        if kind == Kind::Clabe {
            self.text(&["SchmeNm", "Prtry"], "CLABE")?;
        }
        self.close("Othr")?;
        path.iter().rev().try_for_each(|tag| self.close(tag))
    }

    /// An institution by its code at SPEI and its name, as far as they are known.
    fn agent(&mut self, path: &[&str], code: Option<u32>, name: &str) -> io::Result<()> {
        if code.is_none() && name.is_empty() {
            return Ok(());
        }
        path.iter().try_for_each(|tag| self.open(tag))?;
        self.open("FinInstnId")?;
        if let Some(code) = code {
            self.open("ClrSysMmbId")?;
            self.text(&["ClrSysId", "Prtry"], "SPEI")?;
            self.text(&["MmbId"], &code.to_string())?;
            self.close("ClrSysMmbId")?;
        }
        self.text(&["Nm"], name)?;
        self.close("FinInstnId")?;
        path.iter().rev().try_for_each(|tag| self.close(tag))
    }
}

fn magnitude(amount: Money) -> String {
    amount.to_string().trim_start_matches('-').to_owned()
}

/// Without what XML cannot contain and what would change the layout, cut to a length.
fn plain(text: &str, chars_max: usize) -> String {
    let cannot = |it: char| it.is_control() || matches!(it, '\u{2028}' | '\u{2029}' | '\u{fffe}' | '\u{ffff}');
    let text = text.replace(cannot, " ");
    text.trim().chars().take(chars_max).collect::<String>().trim_end().to_owned()
}

/// SPEI's code of the institution that a CLABE belongs to.
fn institution(number: &str) -> Option<u32> {
    let is_clabe = account_number::read(number).kind == Kind::Clabe;
    if is_clabe { banks::institution(normalise(number).get(..3)?) } else { None }
}

/// Everything before the entries.
pub(super) fn head(of: &Statement) -> io::Result<Vec<u8>> {
    let mut xml = Xml::new();
    xml.0.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    xml.0.write_event(Event::Start(BytesStart::new("Document").with_attributes([("xmlns", NAMESPACE)])))?;
    ["BkToCstmrStmt", "GrpHdr"].iter().try_for_each(|tag| xml.open(tag))?;
    xml.text(&["MsgId"], &of.id.simple().to_string())?;
    xml.text(&["CreDtTm"], &timestamp(of.made_at))?;
    xml.close("GrpHdr")?;
    xml.open("Stmt")?;
    // The same each time. An account's id has 32 digits, the first of which are its time.
    let id = format!("{}-{}", of.day, of.account.account_id.simple());
    xml.text(&["Id"], &plain(&id, ID_CHARS_MAX))?;
    xml.text(&["CreDtTm"], &timestamp(of.made_at))?;
    let (begin, end) = Statement::bounds(of.day);
    xml.open("FrToDt")?;
    xml.text(&["FrDtTm"], &timestamp(begin))?;
    xml.text(&["ToDtTm"], &timestamp(end - Duration::MILLISECOND))?;
    xml.close("FrToDt")?;
    own_account(&mut xml, of)?;
    let closing = if of.is_final { "CLBD" } else { "ITBD" };
    for (kind, balance) in [("OPBD", of.opening), (closing, of.closing)] {
        xml.open("Bal")?;
        xml.text(&["Tp", "CdOrPrtry", "Cd"], kind)?;
        xml.amount(balance)?;
        xml.text(&["Dt", "Dt"], &of.day.to_string())?;
        xml.close("Bal")?;
    }
    ["TxsSummry", "TtlNtries"].iter().try_for_each(|tag| xml.open(tag))?;
    xml.text(&["NbOfNtries"], &(of.span.up_to - of.span.after).to_string())?;
    let net = Money::from_minor(of.closing.minor() - of.opening.minor());
    xml.open("TtlNetNtry")?;
    xml.text(&["Amt"], &magnitude(net))?;
    xml.direction(net)?;
    ["TtlNetNtry", "TtlNtries", "TxsSummry"].iter().try_for_each(|tag| xml.close(tag))?;
    Ok(xml.0.into_inner())
}

fn own_account(xml: &mut Xml, of: &Statement) -> io::Result<()> {
    let number = &of.account.account_number;
    let has_room = normalise(number).chars().count() <= NUMBER_CHARS_MAX;
    xml.open("Acct")?;
    xml.account(&["Id"], if has_room { number.clone() } else { of.account.account_id.simple().to_string() }.as_str())?;
    xml.text(&["Ccy"], CURRENCY)?;
    xml.text(&["Ownr", "Nm"], &plain(of.holder.as_deref().unwrap_or_default(), TEXT_CHARS_MAX))?;
    xml.agent(&["Svcr"], institution(number), "")?;
    xml.close("Acct")
}

/// Some of the entries.
pub(super) fn entries(entries: &[Entry]) -> io::Result<Vec<u8>> {
    let mut xml = Xml::new();
    entries.iter().try_for_each(|it| entry(&mut xml, it))?;
    Ok(xml.0.into_inner())
}

fn entry(xml: &mut Xml, it: &Entry) -> io::Result<()> {
    let kind = kind_of(it);
    let (family, subfamily, is_reversal) = code_of(kind);
    let reference = it.transfer_id.map(|id| id.simple().to_string()).unwrap_or_default();
    xml.open("Ntry")?;
    xml.text(&["NtryRef"], &it.number.to_string())?;
    xml.amount(it.delta)?;
    xml.text(&["RvslInd"], if is_reversal { "true" } else { "" })?;
    xml.text(&["Sts", "Cd"], "BOOK")?;
    xml.text(&["BookgDt", "DtTm"], &timestamp(it.created_at))?;
    xml.text(&["ValDt", "Dt"], &mexico_city_date(it.created_at).to_string())?;
    xml.text(&["AcctSvcrRef"], &reference)?;
    ["BkTxCd", "Domn"].iter().try_for_each(|tag| xml.open(tag))?;
    xml.text(&["Cd"], "PMNT")?;
    xml.open("Fmly")?;
    xml.text(&["Cd"], family)?;
    xml.text(&["SubFmlyCd"], subfamily)?;
    ["Fmly", "Domn"].iter().try_for_each(|tag| xml.close(tag))?;
    xml.text(&["Prtry", "Cd"], kind)?;
    xml.close("BkTxCd")?;
    ["NtryDtls", "TxDtls"].iter().try_for_each(|tag| xml.open(tag))?;
    // SPEI's tracking key goes with a payment from the payer's bank to the payee's, and both customers see it.
    let tracking_key = plain(it.spei_reference.as_deref().unwrap_or_default(), ID_CHARS_MAX);
    if !reference.is_empty() || !tracking_key.is_empty() {
        xml.open("Refs")?;
        xml.text(&["AcctSvcrRef"], &reference)?;
        xml.text(&["EndToEndId"], &tracking_key)?;
        xml.text(&["TxId"], &tracking_key)?;
        xml.close("Refs")?;
    }
    xml.amount(it.delta)?;
    party(xml, it)?;
    remittance(xml, it)?;
    ["TxDtls", "NtryDtls", "Ntry"].iter().try_for_each(|tag| xml.close(tag))
}

/// The other party: the payer of a received order, or the payee of the user's own transfer, also when its money came back.
fn party(xml: &mut Xml, it: &Entry) -> io::Result<()> {
    let (name, number, bank, code) = match &it.payer {
        Some(payer) => (&payer.name, &payer.number, payer.bank(), payer.institution),
        None => (&it.beneficiary_name, &it.beneficiary_number, it.beneficiary_bank.clone(), None),
    };
    let name = plain(name.as_deref().unwrap_or_default(), TEXT_CHARS_MAX);
    let number = number.as_deref().unwrap_or_default();
    let [party, account, agent] =
        if it.payer.is_some() { ["Dbtr", "DbtrAcct", "DbtrAgt"] } else { ["Cdtr", "CdtrAcct", "CdtrAgt"] };
    if !name.is_empty() || !number.is_empty() {
        xml.open("RltdPties")?;
        xml.text(&[party, "Pty", "Nm"], &name)?;
        xml.account(&[account, "Id"], number)?;
        xml.close("RltdPties")?;
    }
    let bank = plain(bank.as_deref().unwrap_or_default(), TEXT_CHARS_MAX);
    xml.agent(&["RltdAgts", agent], code.or_else(|| institution(number)), &bank)
}

fn remittance(xml: &mut Xml, it: &Entry) -> io::Result<()> {
    let concept = plain(it.remittance.concept.as_deref().unwrap_or_default(), TEXT_CHARS_MAX);
    let reference = it.remittance.reference.map(|it| it.to_string()).unwrap_or_default();
    if concept.is_empty() && reference.is_empty() {
        return Ok(());
    }
    xml.open("RmtInf")?;
    xml.text(&["Ustrd"], &concept)?;
    xml.text(&["Strd", "CdtrRefInf", "Ref"], &reference)?;
    xml.close("RmtInf")
}

/// Everything after the entries.
pub(super) fn tail() -> io::Result<Vec<u8>> {
    let mut xml = Xml::new();
    ["Stmt", "BkToCstmrStmt", "Document"].iter().try_for_each(|tag| xml.close(tag))?;
    Ok(xml.0.into_inner())
}
