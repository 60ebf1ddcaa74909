const Panel = ({ children }) => <section>{children}</section>;

Panel.Title = () => <h1 />;

export default Panel;
