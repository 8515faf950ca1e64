/** A typical pod with one container, as users write it: about 3.6 KB of JSON with the server's defaults. */
export function loadPod(name: string, { labels = {}, spec = {} }: { labels?: object; spec?: object } = {}) {
  const resources = { requests: { cpu: '10m', memory: '16Mi' }, limits: { cpu: '1', memory: '128Mi' } };
  const container = {
    name: 'main',
    image: 'registry.example/shop/cart:2.7.1',
    args: ['--listen=:8080', '--log-level=info'],
    env: Array.from({ length: 8 }, (_, i) => ({ name: `SETTING_${i}`, value: `value of setting ${i}` })),
    ports: [{ name: 'http', containerPort: 8080 }],
    readinessProbe: { httpGet: { path: '/ready', port: 8080 } },
    resources,
  };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      labels: { app: 'cart', tier: 'backend', ...labels },
      annotations: { 'shop.example/owner': 'checkout', 'shop.example/purpose': 'a note that people leave '.repeat(4) },
    },
    spec: { containers: [container], ...spec },
  };
}
