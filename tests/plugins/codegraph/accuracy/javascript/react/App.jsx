import React, { useEffect } from 'react';
import { Button } from './Button';
import Panel from './Panel';
import Legacy from './Legacy';
import { useCounter, format } from './hooks';
import './style.css';

export function App({ items }) {
  const { label } = useCounter();
  useEffect(() => {
    document.title = format(1);
  }, []);
  return (
    <Panel>
      <Panel.Title />
      {items.map((item) => (
        <Button key={item} label={label} />
      ))}
      <Legacy />
      <div className="x">text</div>
    </Panel>
  );
}
