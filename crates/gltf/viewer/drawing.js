// Draws the models: camera, lights, ground, wireframe and bones. Without WebGL nothing is drawn and the rest of the page works.
class Drawing {
  constructor(canvas, cast) {
    this.canvas = canvas;
    this.cast = cast;
    this.scene = new three.Scene();
    this.camera = new three.PerspectiveCamera(32, 1, 0.01, 100);
    this.renderer = new three.WebGLRenderer({ canvas, antialias: true, alpha: true });
    this.renderer.setPixelRatio(Math.min(window.devicePixelRatio, 2));
    this.renderer.toneMapping = three.NeutralToneMapping;
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = three.PCFShadowMap;
    this.controls = new three.OrbitControls(this.camera, canvas);
    this.controls.enableDamping = !matchMedia("(prefers-reduced-motion: reduce)").matches;
    this.controls.dampingFactor = 0.12;
    cast.models.forEach((model) => this.scene.add(model.root));
    this.extent = cast.extent();
    this.addLights();
    this.addGround();
    this.addWireframe();
    this.addBones();
    this.frame();
  }

  get size() {
    return Math.max(this.extent.boxes[0].getSize(new three.Vector3()).length(), 1e-6);
  }

  // Whether the models travel farther than they are large, so that a fixed camera would show them small.
  get travels() {
    const [first, ...rest] = this.extent.boxes.map((box) => box.getCenter(new three.Vector3()));
    return rest.some((center) => center.distanceTo(first) > 0.6 * this.size);
  }

  addLights() {
    const room = new three.PMREMGenerator(this.renderer);
    this.scene.environment = room.fromScene(new three.RoomEnvironment(), 0.04).texture;
    this.scene.environmentIntensity = 0.55;
    room.dispose();
    this.scene.add(new three.HemisphereLight(0xffffff, 0x8a7f76, 0.5));
    this.sun = new three.DirectionalLight(0xfff3e6, 2.2);
    this.sun.castShadow = true;
    this.sun.shadow.mapSize.set(2048, 2048);
    this.sun.shadow.radius = 5;
    const reach = this.size;
    Object.assign(this.sun.shadow.camera, { left: -reach, right: reach, top: reach, bottom: -reach, near: 0.01 * reach, far: 8 * reach });
    this.sun.shadow.bias = -0.0008;
    this.sun.shadow.normalBias = 0.006 * reach;
    this.scene.add(this.sun, this.sun.target);
    const rim = new three.DirectionalLight(0xbfd4ff, 0.9);
    rim.position.set(-2, 2, -3);
    this.scene.add(rim);
  }

  addGround() {
    const size = this.size;
    const height = this.extent.whole.min.y;
    // cells of a power of ten (m), so that the grid is a scale
    const cell = 10 ** Math.ceil(Math.log10(size / 8));
    const cells = 2 * Math.ceil((8 * size) / cell);
    this.grid = new three.Group();
    this.lines = new three.GridHelper(cells * cell, cells, 0xffffff, 0xffffff);
    Object.assign(this.lines.material, { transparent: true, depthWrite: false });
    fadeOut(this.lines.material, 8 * size);
    this.shade = new three.Mesh(new three.PlaneGeometry(40 * size, 40 * size), new three.ShadowMaterial({ opacity: 0.32 }));
    this.shade.rotation.x = -Math.PI / 2;
    this.shade.receiveShadow = true;
    this.grid.position.y = height - 1e-4 * size;
    this.grid.add(this.lines, this.shade);
    this.scene.add(this.grid);
  }

  // Lines over the shaded surfaces, which move with them.
  addWireframe() {
    this.wires = [];
    const material = new three.MeshBasicMaterial({ wireframe: true, transparent: true, opacity: 0.28, depthWrite: false });
    for (const mesh of this.cast.models.flatMap((model) => model.surfaces)) {
      const wire = mesh.clone(false);
      wire.material = material;
      wire.morphTargetInfluences = mesh.morphTargetInfluences;
      wire.castShadow = false;
      wire.frustumCulled = false;
      wire.visible = false;
      wire.position.set(0, 0, 0);
      wire.quaternion.identity();
      wire.scale.set(1, 1, 1);
      mesh.add(wire);
      this.wires.push(wire);
    }
    this.wireMaterial = material;
  }

  addBones() {
    this.bones = this.cast.members.filter(({ flesh }) => flesh.bones.size > 0).map(({ flesh }) => {
      const helper = new three.SkeletonHelper(flesh.root);
      helper.setColors?.(new three.Color(0xff7d62), new three.Color(0xffc2a8));
      Object.assign(helper.material, { depthTest: false, transparent: true });
      helper.visible = false;
      this.scene.add(helper);
      return helper;
    });
  }

  setTheme(isLight) {
    const ink = isLight ? 0x2a2018 : 0xffffff;
    this.lines.material.color.set(ink);
    this.lines.material.opacity = isLight ? 0.22 : 0.17;
    this.shade.material.opacity = isLight ? 0.2 : 0.36;
    this.wireMaterial.color.set(ink);
  }

  show({ wireframe, bones, grid }) {
    this.wires.forEach((wire) => { wire.visible = wireframe; });
    this.bones.forEach((helper) => { helper.visible = bones; });
    this.grid.visible = grid;
  }

  // Puts the camera where the models fill the picture: all of the clip, or the first frame if they travel.
  frame() {
    const box = this.travels ? this.extent.boxes[0] : this.extent.whole;
    const center = box.getCenter(new three.Vector3());
    const size = box.getSize(new three.Vector3());
    const half = Math.tan((this.camera.fov * Math.PI) / 360);
    const aspect = this.camera.aspect;
    const width = Math.max(size.x, size.z);
    const distance = 0.5 * Math.max((1.28 * size.y) / half, (1.2 * width) / (half * aspect)) + 0.5 * width;
    this.controls.target.copy(center);
    this.camera.position.set(0.42, 0.2, 1).normalize().multiplyScalar(distance).add(center);
    this.camera.near = distance / 100;
    this.camera.far = distance * 60;
    this.camera.updateProjectionMatrix();
    this.controls.update();
    this.followed = null;
  }

  // Moves the camera along with the models over the ground.
  follow(isOn) {
    if (!isOn) {
      this.followed = null;
      return;
    }
    const middle = this.cast.middle();
    if (this.followed) {
      const step = middle.clone().sub(this.followed);
      step.y = 0;
      this.camera.position.add(step);
      this.controls.target.add(step);
    }
    this.followed = middle;
  }

  resize() {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    this.renderer.setSize(width, height, false);
    this.camera.aspect = width / Math.max(height, 1);
    this.camera.updateProjectionMatrix();
  }

  // Draws one pose, or skinning on the left of `boundary` (a fraction of the width) and flesh on its right.
  draw(surface, boundary) {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    this.aimSun();
    if (surface !== "compare") {
      this.renderer.setScissorTest(false);
      this.cast.pose(this.cast.time, surface === "flesh");
      this.renderer.render(this.scene, this.camera);
      return;
    }
    const middle = Math.round(boundary * width);
    this.renderer.setScissorTest(true);
    this.renderer.setScissor(0, 0, middle, height);
    this.cast.pose(this.cast.time, false);
    this.renderer.render(this.scene, this.camera);
    this.renderer.setScissor(middle, 0, width - middle, height);
    this.cast.pose(this.cast.time, true);
    this.renderer.render(this.scene, this.camera);
  }

  // The shadow's light stays above what is looked at.
  aimSun() {
    const reach = this.size;
    this.sun.target.position.copy(this.controls.target);
    this.sun.position.copy(this.controls.target).add(new three.Vector3(1.1, 2.4, 1.5).multiplyScalar(reach));
  }
}

// Lets lines on the ground fade towards a distance from the origin.
function fadeOut(material, distance) {
  material.onBeforeCompile = (shader) => {
    const far = distance.toExponential();
    shader.vertexShader = `varying vec2 onGround;\n${shader.vertexShader}`.replace(
      "#include <begin_vertex>", "#include <begin_vertex>\nonGround = position.xz;");
    shader.fragmentShader = `varying vec2 onGround;\n${shader.fragmentShader}`.replace(
      "#include <opaque_fragment>",
      `#include <opaque_fragment>\ngl_FragColor.a *= 1.0 - smoothstep(0.1 * ${far}, ${far}, length(onGround));`);
  };
}
