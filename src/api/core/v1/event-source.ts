import { field, type Infer, object, string } from '../../schema.ts';

export const EventSource = object('io.k8s.api.core.v1.EventSource', '', {
  component: field(1, string),
  host: field(2, string),
});
export type EventSource = Infer<typeof EventSource>;
