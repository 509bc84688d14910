// Brings the parts of a page up to date when the server says that something has changed. Without it, the page is complete, too.
(() => {
	"use strict";
	const status = document.getElementById("status");
	const tv = document.documentElement.classList.contains("tv");
	let since, busy = false, again = false;

	const show = (next) => {
		for (const now of document.querySelectorAll(".live")) {
			const then = next.getElementById(now.id);
			if (!then) continue;
			const open = [...now.querySelectorAll("details")].map((d) => d.open);
			then.querySelectorAll("details").forEach((d, i) => { d.open = open[i]; });
			if (then.isEqualNode(now)) continue;
			const at = now.contains(document.activeElement) && document.activeElement.getAttribute("href");
			now.replaceWith(then);
			if (at) then.querySelector(`[href="${CSS.escape(at)}"]`)?.focus();
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
			if (!answer.ok) throw new Error(answer.statusText);
			show(new DOMParser().parseFromString(await answer.text(), "text/html"));
			since = undefined;
			status.textContent = "";
		} catch {
			lost();
		}
		busy = false;
		if (again) refresh();
	};

	const listen = () => {
		const events = new EventSource(document.body.dataset.events);
		events.onopen = refresh;
		events.onmessage = () => setTimeout(refresh, Math.random() * 500); // not all viewers at once
		events.onerror = () => {
			if (events.readyState !== EventSource.CLOSED) return lost();
			refresh(); // there may be too many viewers, and only no events
			setTimeout(listen, 10000);
		};
	};
	listen();
	if (tv) setInterval(refresh, 60000);
	addEventListener("pageshow", (e) => e.persisted && refresh());
})();
