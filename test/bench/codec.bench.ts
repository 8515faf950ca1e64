import { core } from '#api';
import { decodeObject, decodeProtobuf, encodeJson, encodeProtobuf, parseJson } from '#machinery';
import type { Benchmark } from './harness.ts';
import { typicalPod } from './typical-pod.ts';

const text = JSON.stringify(typicalPod);
const bytes = Buffer.from(text);
const message = encodeProtobuf(core.Pod, typicalPod);
/** What a client sends: fields that the server always shows are missing, others are null. */
const { status: _, ...unsaved } = typicalPod;
const fromClient = Buffer.from(JSON.stringify({ ...unsaved, metadata: { ...typicalPod.metadata, creationTimestamp: null } }));

export const benchmarks: Benchmark[] = [
  {
    kind: 'micro',
    name: 'codec/json: decode and encode a pod (at most 3 ×, validation included)',
    baseline: { name: 'JSON.parse + JSON.stringify', run: () => JSON.stringify(JSON.parse(bytes.toString())) },
    subject: {
      name: 'parseJson + decodeObject + encodeJson',
      run: () => encodeJson(decodeObject(core.Pod, parseJson(bytes).value).object),
    },
  },
  {
    kind: 'micro',
    name: 'codec/json: decode the pod of a client',
    baseline: { name: 'JSON.parse', run: () => JSON.parse(fromClient.toString()) },
    subject: { name: 'parseJson + decodeObject', run: () => decodeObject(core.Pod, parseJson(fromClient).value) },
  },
  {
    kind: 'micro',
    name: 'codec/protobuf: decode a pod (at most 2 ×)',
    baseline: { name: 'JSON.parse', run: () => JSON.parse(text) },
    subject: { name: 'decodeProtobuf', run: () => decodeProtobuf(core.Pod, message) },
  },
  {
    kind: 'micro',
    name: 'codec/protobuf: encode a pod',
    baseline: { name: 'JSON.stringify', run: () => JSON.stringify(typicalPod) },
    subject: { name: 'encodeProtobuf', run: () => encodeProtobuf(core.Pod, typicalPod) },
  },
];
