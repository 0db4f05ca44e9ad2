// Mexican Spanish, for the home and the statement.

export default {
  "time.today": "Hoy",
  "time.yesterday": "Ayer",

  // The home.
  "home.actions": "Acciones rápidas",
  "home.add-payee": "Agregar beneficiario",
  "home.see-history": "Ver movimientos",
  "home.of-account": "de {name}, terminación {four}",
  "home.copy": "Copiar CLABE",
  "home.copied": "CLABE copiada",
  "home.not-copied": "No se pudo copiar",
  "home.next": "Después podrás:",
  "home.next.1": "Recibir dinero con la CLABE que te asigna el banco.",
  "home.next.2": "Agregar a tus beneficiarios.",
  "home.next.3": "Transferir por SPEI y consultar tus movimientos.",
  "home.payees": "Beneficiarios recientes",
  "home.transfer-to": "Transferir a",
  "home.payees.empty": "Agrega a alguien y transfiérele desde aquí con un toque.",
  "home.payees.all": "Ver todos los beneficiarios",
  "home.movements": "Movimientos recientes",
  "home.movements.empty": "Aquí verás el dinero que entre y el que salga.",
  "home.movements.some": "De tus primeras {most} cuentas.",
  "home.movements.all": "Ver todos los movimientos",
  "home.offline": "Sin conexión. Aparecerá cuando vuelvas a conectarte.",
};
