"""Every offered item, handed out only to a caller: the tier gate."""
