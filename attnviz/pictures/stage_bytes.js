/**
 * The bytes of a stage, read: `stage_bytes.py` says how they lie.
 *
 * @typedef {Float64Array | Float32Array | Int32Array | Uint8Array} StageNumbers
 * @typedef {{ type: string, shape: number[], axes: string[], at: number }} StageArrayFacts
 * @typedef {{ shape: number[], axes: string[], values: StageNumbers }} StageArray
 * @typedef {{ arrays: Record<string, StageArrayFacts> }} StageFacts
 */

/** The letters that they begin with. */
const STAGE_MAGIC = "avs1";
const STAGE_ALIGNED = 8;

/** @type {Record<string, (buffer: ArrayBufferLike, at: number, count: number) => StageNumbers>} */
const STAGE_TYPES = {
  float64: (buffer, at, count) => new Float64Array(buffer, at, count),
  float32: (buffer, at, count) => new Float32Array(buffer, at, count),
  int32: (buffer, at, count) => new Int32Array(buffer, at, count),
  uint8: (buffer, at, count) => new Uint8Array(buffer, at, count),
};

/**
 * Return the header of a stage, and its arrays by their names: views of the bytes, which are copied only where they do
 * not begin at a multiple of 8, as in a message that holds more than them.
 *
 * Throws where they are something else, such as the page that a server without the route gives to every address.
 *
 * @template {StageFacts} Facts what the header says beside the arrays
 * @param {ArrayBuffer | Uint8Array} data
 * @returns {{ header: Facts, arrays: Record<string, StageArray> }}
 */
export function unpackStage(data) {
  const given = data instanceof Uint8Array ? data : new Uint8Array(data);
  const bytes = given.byteOffset % STAGE_ALIGNED ? given.slice() : given;
  const ascii = new TextDecoder();
  if (bytes.length < STAGE_ALIGNED || ascii.decode(bytes.subarray(0, 4)) !== STAGE_MAGIC)
    throw new Error("these are not the bytes of a stage");
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(4, true);
  const start = STAGE_ALIGNED + length;
  /** @type {Facts} */
  const header = JSON.parse(ascii.decode(bytes.subarray(STAGE_ALIGNED, start)));
  /** @type {Record<string, StageArray>} */
  const arrays = {};
  for (const [name, { type, shape, axes, at }] of Object.entries(header.arrays)) {
    const count = shape.reduce((product, n) => product * n, 1);
    const values = STAGE_TYPES[type](bytes.buffer, bytes.byteOffset + start + at, count);
    arrays[name] = { shape, axes, values };
  }
  return { header, arrays };
}
