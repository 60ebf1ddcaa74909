"""Routes and requests, as the libraries of six languages write them."""

from __future__ import annotations

import pytest

from tests.plugins.codegraph.linker.linked import linked

PYTHON = """
    from fastapi import APIRouter, FastAPI
    import httpx, requests

    router = APIRouter(prefix="/users")
    app = FastAPI()

    @app.get("/items/{item_id}")
    async def item(item_id): ...

    @router.post(
        "/{name}",
        tags=["users"],
    )
    def make(name): ...

    @app.route("/login", methods=["GET", "POST"])
    def login(): ...

    app.add_url_rule("/logout", view_func=login)

    def ask(name):
        requests.get(f"{BASE}/items/{name}?full=1")
        httpx.post("https://api.example.org/users/%s" % name)
        client.request("DELETE", "/users/" + name)
"""
DJANGO = """
    from django.urls import path, re_path
    from views import Years, month

    urlpatterns = [
        path("articles/<int:year>/", Years.as_view()),
        re_path(r"^articles/(?P<year>[0-9]{4})/(?P<month>[0-9]{2})/$", month),
        path("", month, name="home"),
    ]
"""
EXPRESS = """
    const app = express()
    function show(req, res) {}
    function make(req, res) {}
    app.get("/users/:id", show)
    app.post("/users", check(make))
    app.route("/groups").get(show).post(make)
    app.delete("/users/:id", (req, res) => res.end())
    async function ask(id) {
      await fetch(`/api/users/${id}`, { method: "PUT" })
      await axios.get(`${BASE}/users`)
      $.get("/users/1", (found) => found)
      await axios({ method: "patch", url: "/users/" + id, data: {} })
      await (given ?? client).post<Answer>({ ...options, url: "/made/{id}", headers: {} })
    }
"""
NEST = """
    @Controller('cats')
    export class Cats {
      @Get(':id') one() {}
      @Post() make() {}
      @Get("named/:name")
      named() {}
    }
"""
GO = """
    package main

    func hello(w http.ResponseWriter, r *http.Request) {}
    func user(w http.ResponseWriter, r *http.Request) {}

    func main() {
        http.HandleFunc("/hello", hello)
        mux.HandleFunc("PUT /users/{id}", user)
        r.GET("/ping", hello)
    }

    func ask(id int) {
        http.Get(base + "/hello")
        http.NewRequestWithContext(ctx, http.MethodPut, fmt.Sprintf("%s/users/%d", base, id), nil)
    }
"""
JAVA = """
    @RestController
    @RequestMapping("/api/users")
    class Users {
        @GetMapping("/{id}")
        User one(String id) { return null; }

        @RequestMapping(value = "/all", method = RequestMethod.POST)
        void all() {}

        @PostMapping
        void make() {}

        void ask(String id) { rest.getForObject("/api/users/{id}", User.class, id); }
    }
"""
RUST = """
    fn show() {}
    fn make() {}

    #[get("/rocket/<id>")]
    fn rocket(id: u32) {}

    fn app() {
        Router::new().route("/users/:id", get(show).post(make));
    }

    fn ask() {
        client.get("http://localhost:8000/users/1");
        client.post(format!("{}/users", base));
    }
"""


@pytest.mark.parametrize(
    ("path", "text", "served", "sent"),
    [
        (
            "m.py",
            PYTHON,
            {
                "GET /items/* item",
                "POST /users/* make",
                "GET /login login",
                "POST /login login",
                " /logout login",
            },
            {"GET /items/* ask", "POST /users/* ask", "DELETE /users/* ask"},
        ),
        (
            "urls.py",
            DJANGO,
            {" /articles/* Years", " /articles/*/* month", " / month"},
            set(),
        ),
        (
            "m.ts",
            EXPRESS,
            {
                "GET /users/* show",
                "POST /users make",
                "GET /groups show",
                "POST /groups make",
                "DELETE /users/* m.ts",
            },
            {
                "PUT /api/users/* ask",
                "GET /users ask",
                "GET /users/1 ask",
                "PATCH /users/* ask",
                "POST /made/* ask",
            },
        ),
        (
            "m.ts",
            NEST,
            {"GET /cats/* Cats.one", "POST /cats Cats.make", "GET /cats/named/* Cats.named"},
            set(),
        ),
        (
            "m.go",
            GO,
            {" /hello hello", "PUT /users/* user", "GET /ping hello"},
            {"GET /hello ask", "PUT /users/* ask"},
        ),
        (
            "Users.java",
            JAVA,
            {
                "GET /api/users/* Users.one",
                "POST /api/users/all Users.all",
                "POST /api/users Users.make",
            },
            {"GET /api/users/* Users.ask"},
        ),
        (
            "src/lib.rs",
            RUST,
            {"GET /rocket/* rocket", "GET /users/* show", "POST /users/* make"},
            {"GET /users/1 ask", "POST /users ask"},
        ),
    ],
)
def test_routes_lead_to_what_serves_them_and_requests_to_what_makes_them(
    path: str, text: str, served: set[str], sent: set[str]
) -> None:
    views = "class Years: ...\n\ndef month(): ...\n"
    repo = linked({path: text, **({"views.py": views} if path == "urls.py" else {})})
    names = {each.key: each.qualified for each in repo.entities}
    found: dict[bool, set[str]] = {True: set(), False: set()}
    for each in repo.endpoints:
        found[each.serves].add(f"{each.method} {each.template} {names[each.entity]}")
    assert found == {True: served, False: sent}


def test_a_path_in_a_comment_a_docstring_or_another_call_is_no_route() -> None:
    text = '''
        """Use it as @app.get("/no")."""

        # @app.get("/no")
        def quiet():
            """As in:

                @app.get("/no")
                def it(): ...
            """
            open("/etc/passwd")
            print("/no")
            return {"get": "/no"}.get("/no-dict", None)
    '''
    repo = linked({"m.py": text})
    assert {each.template for each in repo.endpoints} == {"/no-dict"}
    assert not any(each.serves for each in repo.endpoints)
