// What the viewer uses of three.js; README.md says how three.min.js is made of it.
export {
  AnimationMixer, Box3, Color, DirectionalLight, GridHelper, Group, HemisphereLight, Matrix4, Mesh,
  MeshBasicMaterial, NeutralToneMapping, PCFShadowMap, PerspectiveCamera, PlaneGeometry, PMREMGenerator, Scene,
  ShadowMaterial, SkeletonHelper, Vector3, WebGLRenderer,
} from 'three';
export { OrbitControls } from 'three/addons/controls/OrbitControls.js';
export { RoomEnvironment } from 'three/addons/environments/RoomEnvironment.js';
export { MeshoptDecoder } from 'three/addons/libs/meshopt_decoder.module.js';
export { GLTFLoader } from 'three/addons/loaders/GLTFLoader.js';
