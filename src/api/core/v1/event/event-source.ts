import { field, type Infer, object, string } from '../../../schema.ts';

export const EventSource = object('io.k8s.api.core.v1.EventSource', 'Where an event comes from.', {
  component: field(1, string, 'The component that reports it.'),
  host: field(2, string, 'The node it comes from.'),
});
export type EventSource = Infer<typeof EventSource>;
