"""Which technology a module, a decorator or a name stands for, as data.

A technology is what a HORIZONTAL entity provides. Modules are external packages; a name counts
with everything below it (``flask_login.utils`` by ``flask_login``). Words are whole parts of
names and paths.
"""

from __future__ import annotations

from typing import Final

AUTHENTICATION: Final = "authentication"
BACKGROUND_JOBS: Final = "background jobs"
CACHING: Final = "caching"
COMMAND_LINE: Final = "command line"
CONFIGURATION: Final = "configuration"
CRYPTOGRAPHY: Final = "cryptography"
DATABASE: Final = "database"
EMAIL: Final = "email"
ERROR_HANDLING: Final = "error handling"
FILE_SYSTEM: Final = "file system"
HTTP_CLIENT: Final = "http client"
HTTP_SERVER: Final = "http server"
INTERNATIONALIZATION: Final = "internationalization"
LOGGING: Final = "logging"
MACHINE_LEARNING: Final = "machine learning"
MESSAGING: Final = "messaging"
NETWORKING: Final = "networking"
OBJECT_STORAGE: Final = "object storage"
PAYMENTS: Final = "payments"
PLUGIN_SYSTEM: Final = "plugin system"
PROCESS_MANAGEMENT: Final = "process management"
SEARCH: Final = "search"
SERIALIZATION: Final = "serialization"
TEMPLATING: Final = "templating"
TERMINAL: Final = "terminal output"
TESTING: Final = "testing"
TLS: Final = "tls"
TRACING: Final = "monitoring"
USER_INTERFACE: Final = "user interface"
VALIDATION: Final = "validation"

MODULES: Final[dict[str, tuple[str, ...]]] = {
    AUTHENTICATION: (
        *("flask_login", "flask_httpauth", "flask_jwt_extended", "flask_security", "jwt", "jose"),
        *("passlib", "bcrypt", "argon2", "authlib", "oauthlib", "allauth", "rest_framework_jwt"),
        *("django.contrib.auth", "fastapi.security", "werkzeug.security", "social_django"),
        *("passport", "passport-jwt", "passport-local", "jsonwebtoken", "express-jwt", "bcryptjs"),
        *("next-auth", "@auth/core", "express-session", "@nestjs/jwt", "@nestjs/passport"),
        *("github.com/golang-jwt/jwt", "golang.org/x/crypto/bcrypt", "golang.org/x/oauth2"),
        *("org.springframework.security", "io.jsonwebtoken", "jsonwebtoken", "netrc"),
        "requests.auth",
    ),
    BACKGROUND_JOBS: (
        *("celery", "rq", "dramatiq", "huey", "apscheduler", "arq", "dbos", "croniter"),
        *("bull", "bullmq", "agenda", "node-cron", "sidekiq", "temporalio", "@temporalio/client"),
        *("github.com/robfig/cron", "org.quartz", "github.com/hibiken/asynq"),
    ),
    CACHING: (
        *("cachetools", "flask_caching", "django.core.cache", "aiocache", "pymemcache", "memcache"),
        *("diskcache", "lru-cache", "node-cache", "memcached", "com.github.benmanes.caffeine"),
        *("github.com/patrickmn/go-cache", "org.springframework.cache", "redis", "ioredis"),
        *("github.com/redis/go-redis", "github.com/go-redis/redis"),
    ),
    COMMAND_LINE: (
        *("argparse", "click", "typer", "optparse", "docopt", "fire", "cyclopts", "getopt"),
        *("commander", "yargs", "minimist", "oclif", "@oclif/core", "clap", "structopt"),
        *("github.com/spf13/cobra", "github.com/urfave/cli", "flag", "picocli"),
    ),
    CONFIGURATION: (
        *("configparser", "dotenv", "environs", "decouple", "pydantic_settings", "dynaconf"),
        *("config", "convict", "github.com/spf13/viper", "github.com/joho/godotenv"),
    ),
    CRYPTOGRAPHY: ("cryptography", "Crypto", "nacl", "hmac", "crypto", "crypto-js", "ring"),
    DATABASE: (
        *(
            "sqlalchemy",
            "flask_sqlalchemy",
            "psycopg",
            "psycopg2",
            "asyncpg",
            "sqlite3",
            "aiosqlite",
        ),
        *(
            "pymongo",
            "motor",
            "mongoengine",
            "peewee",
            "tortoise",
            "sqlmodel",
            "django.db",
            "alembic",
        ),
        *("flask_migrate", "pymysql", "MySQLdb", "mysql", "mysql2", "pg", "knex", "sequelize"),
        *("typeorm", "mongoose", "@prisma/client", "prisma", "drizzle-orm", "mongodb", "sqlite"),
        *("database/sql", "gorm.io/gorm", "github.com/jmoiron/sqlx", "github.com/jackc/pgx"),
        *(
            "java.sql",
            "javax.persistence",
            "jakarta.persistence",
            "org.hibernate",
            "diesel",
            "sqlx",
        ),
        *("org.springframework.data", "org.springframework.jdbc", "better-sqlite3"),
    ),
    EMAIL: (
        *("smtplib", "email", "flask_mail", "django.core.mail", "sendgrid", "aiosmtplib"),
        *("nodemailer", "@sendgrid/mail", "net/smtp", "javax.mail", "jakarta.mail", "lettre"),
    ),
    HTTP_CLIENT: (
        *("requests", "httpx", "urllib3", "aiohttp", "http.client", "urllib.request", "httplib2"),
        *("axios", "node-fetch", "got", "superagent", "undici", "reqwest", "hyper"),
        *("java.net.http", "okhttp3", "org.apache.http", "requests_toolbelt", "http.cookiejar"),
    ),
    HTTP_SERVER: (
        *("flask", "django.http", "fastapi", "starlette", "tornado", "bottle", "sanic", "uvicorn"),
        *("express", "koa", "fastify", "@nestjs/common", "hapi", "cors", "body-parser", "helmet"),
        *("net/http", "github.com/gin-gonic/gin", "github.com/labstack/echo", "axum", "actix_web"),
        *("org.springframework.web", "javax.servlet", "jakarta.servlet", "werkzeug", "gunicorn"),
    ),
    INTERNATIONALIZATION: (
        *("gettext", "babel", "flask_babel", "django.utils.translation", "i18next", "react-intl"),
        *("langdetect", "polib", "golang.org/x/text"),
    ),
    LOGGING: (
        *(
            "logging",
            "structlog",
            "loguru",
            "winston",
            "pino",
            "bunyan",
            "morgan",
            "log",
            "log/slog",
        ),
        *("go.uber.org/zap", "github.com/sirupsen/logrus", "org.slf4j", "java.util.logging"),
        *("org.apache.logging", "tracing", "debug"),
    ),
    MACHINE_LEARNING: (
        *("torch", "tensorflow", "sklearn", "keras", "transformers", "openai", "anthropic"),
        *("onnxruntime", "xgboost", "langchain"),
    ),
    MESSAGING: (
        *("pika", "kombu", "kafka", "aiokafka", "confluent_kafka", "nats", "amqplib", "kafkajs"),
        *("github.com/segmentio/kafka-go", "org.apache.kafka", "paho"),
    ),
    NETWORKING: ("socket", "ssl.socket", "dns", "net", "dgram", "paramiko", "websockets", "ws"),
    OBJECT_STORAGE: ("boto3", "botocore", "minio", "google.cloud.storage", "aws-sdk", "obstore"),
    PAYMENTS: ("stripe", "braintree", "paypalrestsdk", "razorpay", "square"),
    PLUGIN_SYSTEM: ("pluggy", "stevedore", "importlib_metadata", "importlib.metadata"),
    PROCESS_MANAGEMENT: ("subprocess", "multiprocessing", "child_process", "os/exec", "psutil"),
    SEARCH: (
        *("elasticsearch", "opensearchpy", "whoosh", "haystack", "meilisearch", "algoliasearch"),
        *("@elastic/elasticsearch", "tantivy", "org.apache.lucene", "qdrant_client"),
    ),
    SERIALIZATION: (
        *("marshmallow", "msgpack", "msgspec", "protobuf", "google.protobuf", "orjson", "serde"),
        *("com.fasterxml.jackson", "rest_framework.serializers", "pickle"),
    ),
    TEMPLATING: ("jinja2", "mako", "django.template", "ejs", "handlebars", "pug", "mustache"),
    TERMINAL: ("rich", "curses", "colorama", "tqdm", "chalk", "ora", "pygments", "textual"),
    TESTING: ("pytest", "unittest", "mock", "jest", "mocha", "chai", "sinon", "@playwright/test"),
    TLS: ("ssl", "certifi", "tls", "crypto/tls", "rustls", "OpenSSL"),
    TRACING: (
        *("prometheus_client", "opentelemetry", "sentry_sdk", "@sentry/node", "newrelic", "statsd"),
        *("github.com/prometheus/client_golang", "io.micrometer", "prom-client", "datadog"),
    ),
    USER_INTERFACE: ("tkinter", "PyQt5", "PyQt6", "PySide6", "react", "vue", "svelte"),
    VALIDATION: (
        "wtforms",
        "flask_wtf",
        "cerberus",
        "voluptuous",
        "jsonschema",
        "joi",
        "yup",
        "zod",
        "ajv",
    ),
}
"""The external modules of each technology."""

AMBIENT: Final = frozenset(
    {
        *(HTTP_SERVER, TEMPLATING, VALIDATION, SERIALIZATION, TESTING, USER_INTERFACE, LOGGING),
        *(DATABASE, COMMAND_LINE),
    }
)
"""Technologies that code of a feature uses everywhere: using one makes nothing infrastructure."""

WORDS: Final[dict[str, tuple[str, ...]]] = {
    AUTHENTICATION: (
        *("auth", "authentication", "authenticate", "login", "logout", "password", "passwords"),
        *("token", "tokens", "jwt", "oauth", "oauth2", "credential", "credentials", "permission"),
        *("permissions", "signin", "signout", "sso", "netrc"),
    ),
    BACKGROUND_JOBS: (
        *("celery", "worker", "workers", "queue", "scheduler", "cron", "task", "tasks", "job"),
        *("jobs", "rq"),
    ),
    CACHING: ("cache", "caches", "caching", "memoize", "redis"),
    COMMAND_LINE: ("argparser", "argparse", "argtypes", "cli", "argument", "arguments", "argv"),
    CONFIGURATION: ("config", "configuration", "settings", "conf", "env", "environment"),
    CRYPTOGRAPHY: ("crypto", "encryption", "cipher", "encrypt", "decrypt", "signing"),
    DATABASE: ("db", "database", "sql", "orm", "migration", "migrations", "prisma", "dao"),
    EMAIL: ("email", "emails", "mail", "mailer", "smtp"),
    ERROR_HANDLING: ("error", "errors", "exception", "exceptions"),
    FILE_SYSTEM: ("lockfile", "filesystem"),
    HTTP_CLIENT: ("adapter", "adapters", "transport"),
    HTTP_SERVER: ("middleware", "middlewares"),
    INTERNATIONALIZATION: ("i18n", "l10n", "locale", "locales", "translate", "translations"),
    LOGGING: ("log", "logger", "logging", "logs"),
    MESSAGING: ("kafka", "rabbitmq", "pubsub", "mqtt"),
    NETWORKING: ("socket", "sockets"),
    OBJECT_STORAGE: ("s3", "blobstore"),
    PLUGIN_SYSTEM: ("plugin", "plugins", "hook", "hooks", "extension", "extensions"),
    PROCESS_MANAGEMENT: ("daemon", "daemons", "subprocess", "spawn"),
    SEARCH: ("elasticsearch",),
    SERIALIZATION: ("serializer", "serializers", "serialization"),
    TLS: ("ssl", "tls", "certs", "cert", "certificate"),
    TRACING: ("metrics", "telemetry", "tracing", "monitoring"),
}
"""Words in names and paths that name a technology."""

FACTORIES: Final = frozenset(
    {
        *("create_app", "make_app", "build_app", "create_application", "create_server"),
        *("configure_app", "createApp", "createServer", "bootstrap", "setup_app"),
    }
)
"""Functions that put a program together."""

BY_MODULE: Final = {name: word for word, names in MODULES.items() for name in names}
BY_WORD: Final = {name: word for word, names in WORDS.items() for name in names}


ATTRIBUTES: Final = tuple(
    sorted(
        name
        for technology, names in MODULES.items()
        for name in names
        if technology in (SEARCH, CACHING, BACKGROUND_JOBS, MESSAGING, PAYMENTS)
        and name.isidentifier()
        and len(name) > 4
    )
)
"""Modules whose names objects carry as attributes: ``app.redis``, ``self.elasticsearch``."""


def of_module(name: str) -> str | None:
    """The technology of an external module, or of the nearest package around it; or None.

    Args:
        name: as imported: ``flask_login.utils``, ``@prisma/client``, ``github.com/x/y/v2``.
    """
    for mark in (".", "/"):
        at = name
        while at:
            if at in BY_MODULE:
                return BY_MODULE[at]
            at = at.rpartition(mark)[0]
    return None
