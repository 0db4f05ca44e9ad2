// Where the provider sends people back to: tells the console, and closes.

new BroadcastChannel("caudal.sign-in").postMessage(location.search);
history.replaceState(null, "", location.pathname);
window.close();
