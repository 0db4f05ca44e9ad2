// What customers know facts as; generated from the host's declarations.

export const FACTS = {
  amount: {
    es: "el monto",
    en: "the amount",
  },
  is_new_beneficiary: {
    es: "si el beneficiario es nuevo",
    en: "whether the payee is new",
  },
  hour_of_day: {
    es: "la hora",
    en: "the time of day",
  },
  num_past_transactions: {
    es: "cuántas transferencias has hecho",
    en: "how many transfers you have made",
  },
  avg_transaction_amount: {
    es: "lo que sueles enviar",
    en: "what you usually send",
  },
  max_transaction_amount: {
    es: "lo más que has enviado",
    en: "the most that you have sent",
  },
  num_transactions_to_beneficiary: {
    es: "cuántas veces le has enviado al beneficiario",
    en: "how often you have sent to the payee",
  },
  is_new_device: {
    es: "si el dispositivo es nuevo",
    en: "whether the device is new",
  },
  geolocation_changed: {
    es: "si estás donde sueles estar",
    en: "whether you are where you usually are",
  },
  beneficiary_saved_minutes: {
    es: "cuándo guardaste al beneficiario",
    en: "when you saved the payee",
  },
  sent_count_1h: {
    es: "cuántas transferencias hiciste en la última hora",
    en: "how many transfers you made in the last hour",
  },
  sent_amount_1h: {
    es: "cuánto enviaste en la última hora",
    en: "how much you sent in the last hour",
  },
  sent_count_24h: {
    es: "cuántas transferencias hiciste en las últimas 24 horas",
    en: "how many transfers you made in the last 24 hours",
  },
  sent_amount_24h: {
    es: "cuánto enviaste en las últimas 24 horas",
    en: "how much you sent in the last 24 hours",
  },
  sent_count_7d: {
    es: "cuántas transferencias hiciste en los últimos 7 días",
    en: "how many transfers you made in the last 7 days",
  },
  sent_amount_7d: {
    es: "cuánto enviaste en los últimos 7 días",
    en: "how much you sent in the last 7 days",
  },
  sent_count_30d: {
    es: "cuántas transferencias hiciste en los últimos 30 días",
    en: "how many transfers you made in the last 30 days",
  },
  sent_amount_30d: {
    es: "cuánto enviaste en los últimos 30 días",
    en: "how much you sent in the last 30 days",
  },
  to_payee_count_1h: {
    es: "cuántas veces le enviaste al beneficiario en la última hora",
    en: "how often you sent to the payee in the last hour",
  },
  to_payee_amount_1h: {
    es: "cuánto le enviaste al beneficiario en la última hora",
    en: "how much you sent to the payee in the last hour",
  },
  to_payee_count_24h: {
    es: "cuántas veces le enviaste al beneficiario en las últimas 24 horas",
    en: "how often you sent to the payee in the last 24 hours",
  },
  to_payee_amount_24h: {
    es: "cuánto le enviaste al beneficiario en las últimas 24 horas",
    en: "how much you sent to the payee in the last 24 hours",
  },
  to_payee_count_7d: {
    es: "cuántas veces le enviaste al beneficiario en los últimos 7 días",
    en: "how often you sent to the payee in the last 7 days",
  },
  to_payee_amount_7d: {
    es: "cuánto le enviaste al beneficiario en los últimos 7 días",
    en: "how much you sent to the payee in the last 7 days",
  },
  to_payee_count_30d: {
    es: "cuántas veces le enviaste al beneficiario en los últimos 30 días",
    en: "how often you sent to the payee in the last 30 days",
  },
  to_payee_amount_30d: {
    es: "cuánto le enviaste al beneficiario en los últimos 30 días",
    en: "how much you sent to the payee in the last 30 days",
  },
  payees_added_today: {
    es: "cuántos beneficiarios guardaste hoy",
    en: "how many payees you saved today",
  },
  refusals_1h: {
    es: "cuántas transferencias se rechazaron en la última hora",
    en: "how many transfers were refused in the last hour",
  },
  minutes_since_limits_change: {
    es: "cuándo cambiaron tus límites",
    en: "when your limits changed",
  },
  payee_senders_24h: {
    es: "cuántas personas le pagaron al beneficiario en las últimas 24 horas",
    en: "how many people paid the payee in the last 24 hours",
  },
  payee_received_24h: {
    es: "cuánto recibió el beneficiario en las últimas 24 horas",
    en: "how much the payee received in the last 24 hours",
  },
  payee_minutes_to_sending: {
    es: "qué tan pronto envía el beneficiario lo que recibe",
    en: "how soon the payee sends on what comes in",
  },
};

/** The facts that features of contract 1 are made of. */
export const FEATURES = {
  amount_over_average: "amount",
  amount_over_maximum: "amount",
  amount_much_higher_than_average: "amount",
  new_beneficiary: "is_new_beneficiary",
  unusual_time: "hour_of_day",
  late_or_early: "hour_of_day",
  new_device: "is_new_device",
  location_changed: "geolocation_changed",
  low_history: "num_past_transactions",
  new_device_and_new_beneficiary: "is_new_device",
  new_device_and_location_changed: "is_new_device",
  new_beneficiary_and_amount_over_average: "is_new_beneficiary",
  transactions_to_beneficiary: "num_transactions_to_beneficiary",
  past_transactions: "num_past_transactions",
  beneficiary_saved: "beneficiary_saved_minutes",
};
