// Updates the parts of a page when the server reports a change. Without this script, the page is
// complete but does not follow changes.
(() => {
	"use strict";
	const status = document.getElementById("status");
	const tv = document.documentElement.classList.contains("tv");
	let events, since, live = false, busy = false, again = false;

	// A browser opens six connections to a host for all its tabs, so hidden tabs keep none. A
	// screen always keeps its own: the browser of a television may call the page hidden.
	const sleeps = () => document.hidden && !tv;

	const assets = (page) => Array.from(page.querySelectorAll(`[href^="/g/assets/"], [src^="/g/assets/"]`))
		.map((e) => e.getAttribute("href") || e.getAttribute("src")).join();

	const show = (next) => {
		if (performance.now() > 60000 && assets(next) !== assets(document)) return location.reload(); // the bot has been upgraded
		for (const now of document.querySelectorAll(".live")) {
			const then = next.getElementById(now.id);
			if (!then) continue;
			for (const d of then.querySelectorAll("details")) {
				const shown = document.getElementById(d.id);
				d.open = Boolean(shown && shown.open);
			}
			if (then.isEqualNode(now)) continue;
			const at = now.contains(document.activeElement) && document.activeElement;
			now.parentNode.replaceChild(then, now);
			const same = at && then.querySelector(
				at.matches("summary") ? `#${at.parentElement.id} > summary` : `[href="${CSS.escape(at.getAttribute("href"))}"]`);
			if (same) same.focus();
		}
	};

	const lost = () => {
		since = since || new Date().toLocaleTimeString(document.documentElement.lang, { hour: "2-digit", minute: "2-digit" });
		status.textContent = `${status.dataset.text} ${since}`;
	};

	const answered = (request) => {
		if (request.status === 404 && !tv) return location.reload();
		if (request.status === 404) { // a screen has no viewer who would reload it
			return document.querySelectorAll(".live").forEach((part) => { part.textContent = ""; });
		}
		if (request.status !== 200 || !request.response) return lost();
		show(request.response);
		since = undefined;
		status.textContent = "";
	};

	const refresh = () => {
		again = busy;
		if (busy) return;
		busy = true;
		const request = new XMLHttpRequest();
		request.open("GET", location.href);
		request.responseType = "document";
		request.timeout = 10000;
		request.onloadend = () => {
			busy = false;
			answered(request);
			if (again) refresh();
		};
		request.send();
	};

	const listen = () => {
		if (events || sleeps()) return;
		events = new EventSource(document.body.dataset.events);
		events.onopen = () => { live = true; refresh(); };
		events.onmessage = () => setTimeout(refresh, Math.random() * 500); // not all viewers at once
		events.onerror = () => {
			live = false;
			if (events.readyState !== EventSource.CLOSED) return lost();
			events = undefined;
			refresh(); // the page may be served although there are too many viewers for events
			setTimeout(listen, 10000);
		};
	};
	listen();
	document.addEventListener("visibilitychange", () => {
		if (events && sleeps()) {
			events.close();
			events = undefined;
			live = false;
		}
		listen(); // a page that is shown again catches up when the events begin
	});
	setInterval(() => live || sleeps() || refresh(), 10000);
	if (tv) setInterval(refresh, 60000);
	addEventListener("pageshow", (e) => e.persisted && refresh());
})();
