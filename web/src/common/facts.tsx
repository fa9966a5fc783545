/** What a value is called, and the value. */
export type Fact = [name: string, value: string];

/** Names with their values; those without a value are left out. */
export function Facts({ facts }: { facts: Fact[] }) {
  return (
    <dl>
      {facts
        .filter(([, value]) => value)
        .map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}
