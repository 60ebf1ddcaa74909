import { memo } from 'react';

const Plain = ({ label }) => <button>{label}</button>;

export const Button = ({ label, onClick }) => <button onClick={onClick}>{label}</button>;

export default memo(Plain);
