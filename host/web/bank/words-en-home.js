// English, for the home and the statement.

export default {
  "time.today": "Today",
  "time.yesterday": "Yesterday",

  // The home.
  "home.actions": "Quick actions",
  "home.add-payee": "Add a payee",
  "home.see-history": "See history",
  "home.of-account": "of {name}, ending in {four}",
  "home.copy": "Copy CLABE",
  "home.copied": "CLABE copied",
  "home.not-copied": "Could not copy",
  "home.next": "Then you can:",
  "home.next.1": "Receive money with the CLABE that the bank gives you.",
  "home.next.2": "Add your payees.",
  "home.next.3": "Transfer by SPEI and look up your history.",
  "home.payees": "Recent payees",
  "home.transfer-to": "Transfer to",
  "home.payees.empty": "Add someone, and transfer to them from here with one tap.",
  "home.payees.all": "See all payees",
  "home.movements": "Recent entries",
  "home.movements.empty": "Money that comes in and goes out will appear here.",
  "home.movements.some": "From your first {most} accounts.",
  "home.movements.all": "See all entries",
  "home.offline": "You are offline. This will appear when you are connected again.",
};
