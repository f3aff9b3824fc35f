// Leaves its stdin alone until its end.
setInterval(() => {}, 1000);
