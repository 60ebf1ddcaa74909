import React from 'react';
import { Button } from './Button';

export default class Legacy extends React.Component {
  render() {
    return <Button />;
  }
}
