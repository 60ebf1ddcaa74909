"""The pages below ``/admin``: the portal as its admins see it; they show, and the YAML decides."""
