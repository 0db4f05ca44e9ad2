// Institutions by the first three digits of a CLABE, as of November 2026; the same list as the host's. For an unknown
// code the page just shows no name.

const BANKS = new Map([
  ["001", "Banxico"],
  ["002", "Banamex"],
  ["006", "Bancomext"],
  ["009", "Banobras"],
  ["012", "BBVA"],
  ["014", "Santander"],
  ["019", "Banjercito"],
  ["021", "HSBC"],
  ["030", "Bajio"],
  ["036", "Inbursa"],
  ["042", "Mifel"],
  ["044", "Scotiabank"],
  ["058", "Banregio"],
  ["059", "Invex"],
  ["060", "Bansi"],
  ["062", "Afirme"],
  ["072", "Banorte"],
  ["106", "BofA"],
  ["108", "Mufg"],
  ["110", "JPMorgan"],
  ["112", "Bmonex"],
  ["113", "VePorMas"],
  ["124", "Citi"],
  ["127", "Azteca"],
  ["128", "Autofin"],
  ["129", "Barclays"],
  ["130", "Compartamos"],
  ["132", "Multiva"],
  ["133", "Actinver"],
  ["135", "Nafin"],
  ["136", "Intercam"],
  ["137", "Bancoppel"],
  ["138", "Uala"],
  ["140", "Consubanco"],
  ["141", "Volkswagen"],
  ["143", "CIBanco"],
  ["145", "BBase"],
  ["147", "Bankaool"],
  ["148", "Pagatodo"],
  ["150", "Inmobiliario"],
  ["151", "Donde"],
  ["152", "Bancrea"],
  ["154", "Covalto"],
  ["155", "ICBC"],
  ["156", "Sabadell"],
  ["157", "Shinhan"],
  ["158", "Mizuho"],
  ["159", "BankOfChina"],
  ["160", "S3"],
  ["166", "BaBien"],
  ["167", "Hey"],
  ["168", "HipFed"],
  ["600", "Monexcb"],
  ["601", "GBM"],
  ["602", "Masari"],
  ["605", "Value"],
  ["616", "Finamex"],
  ["617", "Valmex"],
  ["620", "Profuturo"],
  ["630", "CBIntercam"],
  ["631", "CIBolsa"],
  ["634", "Fincomun"],
  ["638", "NU"],
  ["646", "STP"],
  ["652", "Credicapital"],
  ["653", "Kuspit"],
  ["656", "Unagra"],
  ["659", "AspIntegra"],
  ["661", "KLAR"],
  ["670", "Libertad"],
  ["677", "CajaPopMexica"],
  ["680", "CristobalColon"],
  ["683", "CajaTelefonist"],
  ["684", "Transfer"],
  ["685", "Fondo(Fira)"],
  ["688", "Crediclub"],
  ["689", "Fomped"],
  ["699", "Fondeadora"],
  ["703", "Tesored"],
  ["706", "Arcus"],
  ["710", "NVIO"],
  ["714", "PPBalance"],
  ["715", "Cashi"],
  ["720", "MexPago"],
  ["721", "Albo"],
  ["722", "MercadoPago"],
  ["723", "Cuenca"],
  ["725", "Coopdesarrollo"],
  ["727", "TransferDirecto"],
  ["728", "SpinOXXO"],
  ["729", "DepPagDig"],
  ["730", "Swap"],
  ["732", "Peibo"],
  ["734", "FincoPay"],
  ["738", "Fintoc"],
  ["901", "CLS"],
  ["902", "Indeval"],
  ["903", "CoDiValida"],
]);

/** What customers call an institution whose published name is an abbreviation; the same list as the host's. */
const PUBLIC_NAMES = new Map([
  ["BaBien", "Banco del Bienestar"],
  ["BBase", "Banco Base"],
  ["BofA", "Bank of America"],
  ["CajaPopMexica", "Caja Popular Mexicana"],
  ["CajaTelefonist", "Caja de Telefonistas"],
  ["HipFed", "Hipotecaria Federal"],
  ["SpinOXXO", "Spin by OXXO"],
]);

/** This bank itself, once the service has said so. @type {{ code: string, name: string } | null} */
let own = null;

/** @param {string | undefined} code @param {string} name */
export function knowOwnBank(code, name) {
  own = code ? { code, name } : null;
}

/** Whether a number is one of this bank's. @param {string} number */
export const isOwnNumber = (number) => own !== null && /^\d{18}$/.test(number) && number.startsWith(own.code);

/** The institution of a code, or null. @param {string} code */
export function bankOf(code) {
  return own?.code === code ? own.name : (BANKS.get(code) ?? null);
}

export function bankNames() {
  return own ? [own.name, ...BANKS.values()] : [...BANKS.values()];
}

/** The name in use, where it does not contain the published one. @param {string} published */
export function publicName(published) {
  return PUBLIC_NAMES.get(published) ?? null;
}
