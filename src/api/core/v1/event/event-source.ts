import { field, type Infer, object, string } from '../../../schema.ts';

export const EventSource = object('io.k8s.api.core.v1.EventSource', 'The source of an event.', {
  component: field(1, string, 'The component that reports it.'),
  host: field(2, string, 'The node of the component.'),
});
export type EventSource = Infer<typeof EventSource>;
