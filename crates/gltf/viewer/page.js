// The page: buttons, keys, timeline and the loop that plays.
const element = (id) => document.getElementById(id);

class Page {
  constructor(cast, drawing) {
    this.cast = cast;
    this.drawing = drawing;
    this.surface = "flesh";
    this.boundary = 0.5;
    this.speed = 1;
    this.isStale = true;
    const isCalm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    this.isPlaying = cast.duration > 0 && !isCalm;
    this.switches = {
      wireframe: false, bones: false, grid: true, follow: drawing?.travels ?? false,
      light: matchMedia("(prefers-color-scheme: light)").matches,
    };
    this.listClips();
    this.bindPanel();
    this.bindTime();
    this.bindWipe();
    addEventListener("keydown", (event) => this.key(event));
    addEventListener("resize", () => this.resize());
    drawing?.controls.addEventListener("change", () => { this.isStale = true; });
    this.resize();
    drawing?.frame();
    this.update();
    let before = performance.now();
    const tick = (now) => {
      this.advance((now - before) / 1000);
      before = now;
      requestAnimationFrame(tick);
    };
    requestAnimationFrame(tick);
  }

  // Plays on and draws if anything has changed.
  advance(seconds) {
    if (this.isPlaying) {
      const { duration } = this.cast;
      this.seek(duration > 0 ? (this.cast.time + seconds * this.speed) % duration : 0);
    }
    if (this.drawing?.controls.update()) this.isStale = true;
    if (!this.isStale) return;
    this.isStale = false;
    this.drawing?.draw(this.surface, this.boundary);
  }

  seek(time) {
    this.cast.time = Math.min(Math.max(time, 0), this.cast.duration);
    this.isStale = true;
    if (this.switches.follow) {
      this.cast.pose(this.cast.time, this.surface !== "skinning");
      this.drawing?.follow(true);
    }
    this.showTime();
  }

  step(frames) {
    this.pause();
    const { rate } = this.cast;
    this.seek(Math.round(this.cast.time * rate + frames) / rate);
  }

  pause() {
    if (!this.isPlaying) return;
    this.isPlaying = false;
    this.update();
  }

  toggle() {
    if (this.cast.duration === 0) return;
    this.isPlaying = !this.isPlaying;
    this.update();
  }

  choose(clip) {
    if (!this.cast.clips[clip]) return;
    this.cast.choose(clip);
    this.drawing?.follow(false);
    this.seek(0);
    if (this.drawing) {
      this.drawing.extent = this.cast.extent();
      this.cast.time = 0;
      this.drawing.frame();
    }
    this.update();
  }

  show(surface) {
    if (surface !== "flesh" && !this.cast.canDropFlesh) return;
    this.surface = surface;
    this.update();
  }

  switch(name) {
    if (element("switches").querySelector(`[data-switch="${name}"]`).disabled) return;
    this.switches[name] = !this.switches[name];
    if (name === "follow") this.drawing?.follow(false);
    this.update();
  }

  resize() {
    this.drawing?.resize();
    this.placeWipe();
    this.isStale = true;
  }

  // Makes all controls say what is so.
  update() {
    document.documentElement.dataset.theme = this.switches.light ? "light" : "dark";
    this.drawing?.setTheme(this.switches.light);
    this.drawing?.show(this.switches);
    for (const button of document.querySelectorAll("[data-surface]")) {
      button.setAttribute("aria-checked", String(button.dataset.surface === this.surface));
    }
    for (const button of document.querySelectorAll("[data-switch]")) {
      button.setAttribute("aria-checked", String(this.switches[button.dataset.switch]));
    }
    element("clips").querySelectorAll("li").forEach((item, clip) => {
      item.setAttribute("aria-selected", String(clip === this.cast.clip));
    });
    document.body.classList.toggle("playing", this.isPlaying);
    element("play").setAttribute("aria-label", this.isPlaying ? "Pause" : "Play");
    for (const id of ["wipe", "wipe-left", "wipe-right"]) element(id).classList.toggle("hidden", this.surface !== "compare");
    this.placeWipe();
    this.showTime();
    this.isStale = true;
  }

  showTime() {
    const { time, duration, rate } = this.cast;
    const fraction = duration > 0 ? time / duration : 0;
    const scrub = element("scrub");
    scrub.value = String(Math.round(1000 * fraction));
    scrub.style.setProperty("--at", `${100 * fraction}%`);
    scrub.setAttribute("aria-valuetext", `${time.toFixed(2)} of ${duration.toFixed(2)} seconds`);
    const frame = Math.round(time * rate);
    const last = Math.round(duration * rate);
    element("clock").innerHTML = `<b>${time.toFixed(2)}</b> <span>/ ${duration.toFixed(2)} s · frame</span> <b>${frame}</b> <span>/ ${last}</span>`;
  }

  listClips() {
    const list = element("clips");
    this.cast.clips.forEach(({ name, duration }, clip) => {
      const item = document.createElement("li");
      const label = document.createElement("span");
      const length = document.createElement("span");
      Object.assign(item, { role: "option", tabIndex: 0, title: name });
      item.setAttribute("role", "option");
      Object.assign(label, { className: "name", textContent: name });
      Object.assign(length, { className: "length", textContent: `${duration.toFixed(2)} s` });
      item.append(label, length);
      item.addEventListener("click", () => this.choose(clip));
      list.append(item);
    });
    element("clip-choice").classList.toggle("hidden", this.cast.clips.length === 0);
    element("surface-choice").classList.toggle("hidden", !this.cast.canDropFlesh);
    element("time-bar").classList.toggle("hidden", this.cast.duration === 0);
  }

  bindPanel() {
    for (const button of document.querySelectorAll("[data-surface]")) {
      button.addEventListener("click", () => this.show(button.dataset.surface));
    }
    for (const button of document.querySelectorAll("[data-switch]")) {
      button.addEventListener("click", () => this.switch(button.dataset.switch));
    }
    document.querySelector('[data-switch="bones"]').disabled = (this.drawing?.bones.length ?? 0) === 0;
    element("frame-view").addEventListener("click", () => this.reframe());
    element("show-keys").addEventListener("click", () => element("keys").showModal());
    element("hide-keys").addEventListener("click", () => element("keys").close());
  }

  bindTime() {
    element("play").addEventListener("click", () => this.toggle());
    element("step-back").addEventListener("click", () => this.step(-1));
    element("step-on").addEventListener("click", () => this.step(1));
    element("scrub").addEventListener("input", () => {
      this.pause();
      this.seek((Number(element("scrub").value) / 1000) * this.cast.duration);
    });
    element("speed").addEventListener("change", () => { this.speed = Number(element("speed").value); });
  }

  bindWipe() {
    const wipe = element("wipe");
    wipe.addEventListener("pointerdown", (event) => wipe.setPointerCapture(event.pointerId));
    wipe.addEventListener("pointermove", (event) => {
      if (wipe.hasPointerCapture(event.pointerId)) this.moveWipe(event.clientX / innerWidth);
    });
    wipe.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: -0.02, ArrowRight: 0.02 }[event.key];
      if (!step) return;
      event.stopPropagation();
      this.moveWipe(this.boundary + step);
    });
  }

  moveWipe(boundary) {
    this.boundary = Math.min(Math.max(boundary, 0.02), 0.98);
    this.placeWipe();
    this.isStale = true;
  }

  placeWipe() {
    for (const id of ["wipe", "wipe-left", "wipe-right"]) element(id).style.left = `${100 * this.boundary}%`;
    element("wipe").setAttribute("aria-valuenow", String(Math.round(100 * this.boundary)));
  }

  reframe() {
    this.drawing?.frame();
    // the camera was put at the first frame
    if (this.switches.follow && this.drawing) {
      const { time } = this.cast;
      this.cast.pose(0, true);
      this.drawing.follow(true);
      this.seek(time);
    }
    this.isStale = true;
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || element("keys").open) return;
    const { key, target } = event;
    if (target.matches("select")) return;
    if (target.matches("li") && (key === "Enter" || key === " ")) {
      target.click();
      event.preventDefault();
      return;
    }
    if (target.matches("button") && (key === "Enter" || key === " ")) return;
    const clip = /^[1-9]$/.test(key) ? Number(key) - 1 : null;
    const act = {
      " ": () => this.toggle(),
      ArrowLeft: () => this.step(-1),
      ArrowRight: () => this.step(1),
      Home: () => { this.pause(); this.seek(0); },
      End: () => { this.pause(); this.seek(this.cast.duration); },
      f: () => this.show(this.surface === "flesh" ? "skinning" : "flesh"),
      c: () => this.show(this.surface === "compare" ? "flesh" : "compare"),
      w: () => this.switch("wireframe"),
      b: () => this.switch("bones"),
      g: () => this.switch("grid"),
      l: () => this.switch("follow"),
      t: () => this.switch("light"),
      r: () => this.reframe(),
      "?": () => element("keys").showModal(),
    }[key.length === 1 ? key.toLowerCase() : key] ?? (clip !== null ? () => this.choose(clip) : null);
    if (!act) return;
    event.preventDefault();
    act();
  }
}

function describe({ vertices, triangles, joints, targets }) {
  const number = (count) => Math.round(count).toLocaleString("en");
  const parts = [`${number(vertices)} vertices`, `${number(triangles)} triangles`];
  if (joints) parts.push(`${number(joints)} joints`);
  if (targets) parts.push(`${number(targets)} morph targets`);
  return parts.join(" · ");
}

// Draws if the browser can; says so if it cannot.
function drawingOf(cast) {
  try {
    return new Drawing(element("view"), cast);
  } catch (error) {
    element("message").textContent = `This browser cannot draw in 3D: turn on WebGL or hardware acceleration. (${error.message})`;
    return null;
  }
}

async function start() {
  const { models } = JSON.parse(element("models").textContent);
  const cast = await Cast.load(models);
  element("counts").textContent = describe(cast.counts());
  const drawing = drawingOf(cast);
  if (drawing) element("message").textContent = "";
  cast.time = 0;
  const page = new Page(cast, drawing);
  return {
    clips: cast.clips,
    surfaces: cast.members.map(({ flesh }) => flesh.surfaces.map((mesh) => mesh.geometry.attributes.position.count)),
    sample: (clip, time, options) => cast.sample(clip, time, options),
    page,
  };
}

// For scripts in the page and tests: `await window.sinew`, then `sample(clip, time, { surface, vertices, flesh })`.
window.sinew = start();
window.sinew.catch((error) => { element("message").textContent = `This file cannot be shown: ${error.message}`; });
