// What codes of factors and reasons say; generated from the host's declarations.

export default {
  AMOUNT_MUCH_HIGHER_THAN_AVERAGE: {
    es: "El monto es más del doble de lo que sueles enviar.",
    en: "The amount is more than twice what you usually send.",
  },
  LOCATION_CHANGED: {
    es: "No estás donde sueles estar.",
    en: "You are not where you usually are.",
  },
  LOW_HISTORY: {
    es: "Has hecho pocas transferencias hasta ahora.",
    en: "You have made few transfers so far.",
  },
  MISSING_FACT: {
    es: "Faltan datos para evaluar bien esta transferencia.",
    en: "Some of what would be needed to assess this transfer well is not known.",
  },
  NEW_BENEFICIARY: {
    es: "Todavía no has completado ninguna transferencia a este beneficiario.",
    en: "You have not completed a transfer to this payee yet.",
  },
  NEW_DEVICE: {
    es: "No reconocemos este dispositivo.",
    en: "We do not recognise this device.",
  },
  UNUSUAL_TIME: {
    es: "Es una hora poco común para transferir.",
    en: "It is an unusual time for a transfer.",
  },
};
