// Brings the parts of a page up to date when the server says that something has changed. Without it, the page is complete, too.
(() => {
	"use strict";
	const status = document.getElementById("status");
	const tv = document.documentElement.classList.contains("tv");
	let since, live = false, busy = false, again = false;

	const assets = (page) => [...page.querySelectorAll(`[href^="/g/assets/"], [src^="/g/assets/"]`)].map((e) => e.getAttribute("href") ?? e.getAttribute("src")).join();

	const show = (next) => {
		if (performance.now() > 60000 && assets(next) !== assets(document)) return location.reload(); // the bot is another release now
		for (const now of document.querySelectorAll(".live")) {
			const then = next.getElementById(now.id);
			if (!then) continue;
			for (const d of then.querySelectorAll("details")) d.open = document.getElementById(d.id)?.open;
			if (then.isEqualNode(now)) continue;
			const at = now.contains(document.activeElement) && document.activeElement;
			now.replaceWith(then);
			if (at) then.querySelector(at.matches("summary") ? `#${at.parentElement.id} > summary` : `[href="${CSS.escape(at.getAttribute("href"))}"]`)?.focus();
		}
	};

	const lost = () => {
		since ??= new Date().toLocaleTimeString(document.documentElement.lang, { hour: "2-digit", minute: "2-digit" });
		status.textContent = `${status.dataset.text} ${since}`;
	};

	const refresh = async () => {
		again = busy;
		if (busy) return;
		busy = true;
		try {
			const answer = await fetch(location.href, { cache: "no-cache", signal: AbortSignal.timeout(10000) });
			if (answer.status === 404 && !tv) return location.reload();
			if (answer.status === 404) return document.querySelectorAll(".live").forEach((part) => part.replaceChildren()); // nobody reloads a screen
			if (!answer.ok) throw new Error(answer.statusText);
			show(new DOMParser().parseFromString(await answer.text(), "text/html"));
			since = undefined;
			status.textContent = "";
		} catch {
			lost();
		} finally {
			busy = false;
			if (again) refresh();
		}
	};

	const listen = () => {
		const events = new EventSource(document.body.dataset.events);
		events.onopen = () => { live = true; refresh(); };
		events.onmessage = () => setTimeout(refresh, Math.random() * 500); // not all viewers at once
		events.onerror = () => {
			live = false;
			if (events.readyState !== EventSource.CLOSED) return lost();
			refresh(); // there may be too many viewers, and only no events
			setTimeout(listen, 10000);
		};
	};
	listen();
	setInterval(() => live || refresh(), 10000);
	if (tv) setInterval(refresh, 60000);
	addEventListener("pageshow", (e) => e.persisted && refresh());
})();
